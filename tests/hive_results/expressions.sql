-- One expression a line. results.py asks real Hive for each and keeps its answers in expressions.jsonl.
-- casts: what does not fit or cannot be read is NULL
cast('12' AS INT)
cast('12.7' AS INT)
cast('-12.7' AS INT)
cast('abc' AS INT)
cast('' AS INT)
cast(' 12 ' AS INT)
cast('1e3' AS INT)
cast('0x1F' AS INT)
cast('+5' AS INT)
cast('2147483648' AS INT)
cast('300' AS TINYINT)
cast('9223372036854775808' AS BIGINT)
cast(300 AS TINYINT)
cast(-129 AS TINYINT)
cast(70000 AS SMALLINT)
cast(3000000000 AS INT)
cast(12.9 AS INT)
cast(-12.9 AS INT)
cast(cast(1e10 AS DOUBLE) AS INT)
cast(cast(-1e20 AS DOUBLE) AS BIGINT)
cast(cast('NaN' AS DOUBLE) AS INT)
cast(cast('Infinity' AS DOUBLE) AS BIGINT)
cast('1.5' AS DOUBLE)
cast('1.5abc' AS DOUBLE)
cast(' 1.5 ' AS DOUBLE)
cast('1d' AS DOUBLE)
cast('NaN' AS DOUBLE)
cast('Infinity' AS DOUBLE)
cast('inf' AS DOUBLE)
cast('1.005' AS DECIMAL(10,2))
cast('1.004' AS DECIMAL(10,2))
cast('123456789.12' AS DECIMAL(5,2))
cast('abc' AS DECIMAL(5,2))
cast(1234.5 AS DECIMAL(4,1))
cast(12345 AS DECIMAL(4,1))
cast(1.25 AS DECIMAL(3,1))
cast(-1.25 AS DECIMAL(3,1))
cast(1.35 AS DECIMAL(3,1))
cast('1' AS DECIMAL)
cast(12.7 AS DECIMAL)
cast('true' AS BOOLEAN)
cast('TRUE' AS BOOLEAN)
cast('false' AS BOOLEAN)
cast('no' AS BOOLEAN)
cast('off' AS BOOLEAN)
cast('0' AS BOOLEAN)
cast('1' AS BOOLEAN)
cast('abc' AS BOOLEAN)
cast('' AS BOOLEAN)
cast('f' AS BOOLEAN)
cast(0 AS BOOLEAN)
cast(2 AS BOOLEAN)
cast(0.0 AS BOOLEAN)
cast(true AS INT)
cast(true AS STRING)
cast(false AS DOUBLE)
cast(12 AS STRING)
cast(1.50 AS STRING)
cast(cast(1.5 AS DECIMAL(10,3)) AS STRING)
cast(cast(1 AS DOUBLE) AS STRING)
cast(cast(1e7 AS DOUBLE) AS STRING)
cast(cast(1.0E-5 AS DOUBLE) AS STRING)
cast(cast(123456789.123 AS DOUBLE) AS STRING)
cast(cast(1.1 AS FLOAT) AS DOUBLE)
cast(cast(1.1 AS FLOAT) AS STRING)
cast('2020-01-31' AS DATE)
cast('2020-1-3' AS DATE)
cast('2020-02-30' AS DATE)
cast('2020-01-31 12:34:56' AS DATE)
cast('2020-01-31T12:34:56' AS DATE)
cast('20200131' AS DATE)
cast('2020/01/31' AS DATE)
cast('2020-01' AS DATE)
cast('2020' AS DATE)
cast('' AS DATE)
cast(' 2020-01-31 ' AS DATE)
cast(DATE '2020-01-31' AS STRING)
cast(DATE '2020-01-31' AS TIMESTAMP)
cast('2020-01-31 12:34:56' AS TIMESTAMP)
cast('2020-01-31 12:34:56.789' AS TIMESTAMP)
cast('2020-01-31T12:34:56' AS TIMESTAMP)
cast('2020-01-31 12:34' AS TIMESTAMP)
cast('2020-01-31 12' AS TIMESTAMP)
cast('2020-01-31' AS TIMESTAMP)
cast('2020-01-31 25:00:00' AS TIMESTAMP)
cast('2020-01-31 12:34:56Z' AS TIMESTAMP)
cast('2020-01-31 12:34:56+02:00' AS TIMESTAMP)
cast(0 AS TIMESTAMP)
cast(1580474096 AS TIMESTAMP)
cast(cast(1.5 AS DOUBLE) AS TIMESTAMP)
cast(1.5 AS TIMESTAMP)
cast(TIMESTAMP '2020-01-31 12:34:56.789' AS STRING)
cast(TIMESTAMP '2020-01-31 12:34:56.5' AS DATE)
cast(TIMESTAMP '2020-01-31 12:34:56.5' AS BIGINT)
cast(TIMESTAMP '2020-01-31 12:34:56.5' AS DOUBLE)
cast(TIMESTAMP '2020-01-31 12:34:56.5' AS DECIMAL(20,3))
cast('abcdef' AS VARCHAR(3))
cast('abcdef' AS CHAR(3))
cast('ab' AS CHAR(4))
cast('ab  ' AS CHAR(6))
cast(12345 AS VARCHAR(3))
cast(true AS VARCHAR(2))
cast('abc' AS BINARY)
cast(cast('abc' AS BINARY) AS STRING)
cast('a' AS CHAR(3)) = 'a'
cast('a' AS CHAR(3)) = cast('a' AS CHAR(5))
cast('a ' AS VARCHAR(3)) = 'a'
cast('a' AS CHAR(3)) = cast('a' AS VARCHAR(3))
length(cast('ab' AS CHAR(4)))
concat(cast('ab' AS CHAR(4)), 'x')
concat(cast('ab' AS VARCHAR(4)), 'x')
-- typed literals
1Y
1S
1L
1BD
1.5BD
1e2
1.5
.5
12345678901
99999999999999999999
'a' 'b'
"it's"
'a\tb'
'\u0041'
'a\\b'
'a\_b'
'\101'
DATE '2020-02-29'
TIMESTAMP '2020-02-29 01:02:03.45'
TIMESTAMP '2020-02-29 00:00:00'
INTERVAL '1' DAY
INTERVAL '1-2' YEAR TO MONTH
INTERVAL '3 04:05:06.7' DAY TO SECOND
DATE '2020-01-31' + INTERVAL '1' MONTH
DATE '2020-01-31' + INTERVAL '1' DAY
DATE '2020-01-31' - INTERVAL '1' DAY
TIMESTAMP '2020-01-31 00:00:00' + INTERVAL '1' HOUR
TIMESTAMP '2020-01-31 00:00:00' - INTERVAL '1-1' YEAR TO MONTH
DATE '2020-01-31' + 1 DAY
DATE '2020-01-31' - DATE '2020-01-01'
TIMESTAMP '2020-01-31 12:00:00' - TIMESTAMP '2020-01-30 00:00:00'
-- arithmetic
7 / 2
1 / 3
cast(7 AS BIGINT) / 2
1.0 / 3
7 / 0
7.0 / 0
0 / 0
cast(1 AS DOUBLE) / 0
7 div 2
-7 div 2
7 div 0
7.5 div 2
7 % 3
-7 % 3
7 % -3
7 % 0
-7.5 % 2
pmod(-7, 3)
pmod(7, -3)
pmod(-7, -3)
pmod(7, 0)
pmod(-7.5, 2)
2147483647 + 1
cast(127 AS TINYINT) + cast(1 AS TINYINT)
9223372036854775807 + 1
-(-5)
- 5
+5
1 + 1.5
1 + 1.5e0
1.1 + 2.22
1.1 * 2.22
1.1 - 2.22
1.1 / 2.2
10 / 4.0
cast(1 AS DECIMAL(10,2)) / cast(3 AS DECIMAL(10,2))
cast(1 AS DECIMAL(38,10)) / cast(3 AS DECIMAL(38,10))
cast(1 AS DECIMAL(38,18)) * cast(3 AS DECIMAL(38,18))
cast(1 AS DECIMAL(38,18)) + cast(3 AS DECIMAL(38,10))
cast(99999999999999999999999999999999999999 AS DECIMAL(38,0)) + 1
cast(1 AS DECIMAL(20,10)) % cast(3 AS DECIMAL(10,2))
1 + cast(2.5 AS DECIMAL(5,2))
cast(2 AS BIGINT) * cast(2.5 AS DECIMAL(5,2))
cast(2.5 AS FLOAT) * cast(2.5 AS DECIMAL(5,2))
'3' + 4
'3' + '4'
'3' * 2
'3.5' + 1
'abc' + 1
'10' / '4'
'7' div 2
'7' % 4
- '5'
5 & 3
5 | 3
5 ^ 3
~5
2 + 3 * 4
1 + 2 || 'x'
'a' || 1 || NULL
'a' || 'b'
-- comparison and logic
'10' > 9
'9' > '10'
'1.5' = 1
'1.0' = 1
'1.5' > 1
'abc' = 0
'abc' < 1
1 = '1'
1.0 = '1.00'
cast(1.1 AS FLOAT) = 1.1
cast(1.1 AS DOUBLE) = 1.1
1 = 1.0
true = 'true'
true = 1
'2020-01-31' = DATE '2020-01-31'
DATE '2020-01-31' < '2020-02-01'
DATE '2020-01-31' > '2020-1-1'
TIMESTAMP '2020-01-31 00:00:00' = '2020-01-31'
TIMESTAMP '2020-01-31 00:00:00' = '2020-01-31 00:00:00.0'
TIMESTAMP '2020-01-31 00:00:00' = DATE '2020-01-31'
TIMESTAMP '2020-01-31 01:00:00' > DATE '2020-01-31'
1 == 1
1 <> 2
1 != 2
NULL = NULL
NULL <=> NULL
1 <=> NULL
1 IS DISTINCT FROM NULL
NULL IS NOT DISTINCT FROM NULL
1 IN (1, 2, NULL)
3 IN (1, 2, NULL)
3 NOT IN (1, 2)
'1' IN (1, 2)
1 IN ('1', '2')
1 BETWEEN 0 AND 2
'5' BETWEEN 10 AND 20
1 NOT BETWEEN 2 AND 3
NULL AND false
NULL OR true
NOT NULL
true IS TRUE
NULL IS FALSE
NULL IS NOT TRUE
NULL IS UNKNOWN
'abc' LIKE 'a%'
'abc' LIKE '_b_'
'a%c' LIKE 'a\%c'
'abc' LIKE 'a\%c'
'abc' LIKE 'A%'
'a\\b' LIKE 'a\\\\b'
'abc' RLIKE 'b'
'abc' RLIKE '^b'
'abc' REGEXP '[a-c]+'
'abc' RLIKE ''
'abc' LIKE ANY ('a%', 'x%')
'abc' LIKE ALL ('a%', '%c')
'abc' NOT LIKE 'b%'
isnull(NULL)
isnotnull(1)
if(true, 1, 2.5)
if(NULL, 'a', 'b')
if(1 > 2, 'a', NULL)
CASE WHEN 1 = 2 THEN 'x' END
CASE 2 WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'more' END
CASE WHEN true THEN 1 ELSE 2.5 END
coalesce(NULL, NULL, 3)
coalesce(NULL, 1, 2.5)
nvl(NULL, 'x')
nvl(1, 2)
nvl2(NULL, 1, 2)
nullif(1, 1)
nullif(1, 2)
greatest(1, 3, 2)
greatest(1, NULL, 2)
least(1, NULL, 2)
least('b', 'a')
greatest(1, 2.5)
assert_true(1 = 1)
-- strings
concat('a', 'b', 'c')
concat('a', NULL)
concat('a', 1, 2.50, true)
concat_ws('-', 'a', NULL, 'b')
concat_ws(',', array('x', 'y'), 'z')
concat_ws(NULL, 'a', 'b')
length('héllo')
length('')
length(NULL)
char_length('héllo')
character_length('héllo')
octet_length('héllo')
length(cast('abc' AS BINARY))
reverse('abc')
upper('abcÄ')
lower('ABCÄ')
ucase('a')
lcase('A')
initcap('hello wORLD-foo bar')
trim('  a b  ')
ltrim('  a')
rtrim('a  ')
trim('xxaxx', 'x')
ltrim('xxa', 'x')
lpad('ab', 5, 'xy')
lpad('abcdef', 3, 'x')
rpad('ab', 5, 'xy')
rpad('ab', 5, '')
lpad('ab', -1, 'x')
lpad('ab', 5)
repeat('ab', 3)
repeat('ab', -1)
space(3)
substr('hello', 2)
substr('hello', 2, 3)
substr('hello', 0)
substr('hello', 0, 2)
substr('hello', -3)
substr('hello', -3, 2)
substr('hello', -10)
substr('hello', -10, 7)
substr('hello', 10)
substr('hello', 2, 0)
substr('hello', 2, -1)
substring('hello', 2, 3)
substring('hello', 3)
mid('hello', 2, 3)
substring_index('a.b.c', '.', 2)
substring_index('a.b.c', '.', -1)
substring_index('a.b.c', '.', 0)
instr('hello', 'l')
instr('hello', 'x')
instr('hello', '')
instr(NULL, 'a')
locate('l', 'hello')
locate('l', 'hello', 4)
locate('l', 'hello', 5)
locate('', 'hello')
locate('l', 'hello', 0)
split('a,b,,c,,', ',')
split('a1b22c', '[0-9]+')
split('', ',')
split('abc', '')
split(NULL, ',')
regexp_replace('foobar', 'o+', 'X')
regexp_replace('abc', '(a)(b)', '$2$1')
regexp_replace('a.b', '\\.', '-')
regexp_extract('foothebar', 'foo(.*?)(bar)', 1)
regexp_extract('foothebar', 'foo(.*?)(bar)', 2)
regexp_extract('foothebar', 'foo(.*?)(bar)')
regexp_extract('foothebar', 'x(.*)', 1)
regexp_extract('foothebar', 'foo(.*?)(bar)', 0)
replace('hello', 'l', 'L')
translate('hello', 'el', 'ip')
translate('hello', 'el', 'i')
ascii('A')
ascii('')
chr(65)
chr(0)
chr(321)
char(66)
base64(cast('abc' AS BINARY))
unbase64('YWJj')
hex(255)
hex('abc')
hex(-1)
hex(cast('abc' AS BINARY))
unhex('616263')
unhex('6')
unhex('zz')
bin(13)
bin(-1)
conv('100', 2, 10)
conv(-10, 16, -10)
conv('ff', 16, 10)
conv('zz', 36, 10)
conv('', 10, 2)
conv('1.5', 10, 2)
soundex('Miller')
levenshtein('kitten', 'sitting')
find_in_set('b', 'a,b,c')
find_in_set('x', 'a,b,c')
find_in_set('a,b', 'a,b,c')
elt(2, 'a', 'b')
elt(5, 'a', 'b')
field('b', 'a', 'b')
field(1, 2, 3)
field('x', NULL, 'x')
format_number(12345.678, 2)
format_number(12345.675, 0)
format_number(0.5, 0)
format_number(1234, '#,##0.00')
printf('%d-%s', 5, 'x')
printf('%05.2f', 3.14159)
format_string('%s', 'x')
quote('it''s')
sentences('Hello there! How are you?')
parse_url('http://a.b/c?d=e&f=g#h', 'HOST')
parse_url('http://a.b/c?d=e&f=g#h', 'QUERY', 'd')
parse_url('http://a.b/c?d=e&f=g#h', 'REF')
parse_url('not a url', 'HOST')
get_json_object('{"a":{"b":[1,2,{"c":"x"}]}}', '$.a.b[2].c')
get_json_object('{"a":{"b":[1,2]}}', '$.a.b')
get_json_object('{"a":[{"b":1},{"b":2}]}', '$.a[*].b')
get_json_object('{"a":"x"}', '$.z')
get_json_object('bad', '$.a')
get_json_object('{"a":null}', '$.a')
get_json_object('{"a":1.50}', '$.a')
get_json_object('{"a":true}', '$.a')
str_to_map('a=1&b=2', '&', '=')
str_to_map('a:1,b:2')
str_to_map('a:1,b')
encode('abc', 'UTF-8')
decode(cast('abc' AS BINARY), 'UTF-8')
md5('abc')
sha('abc')
sha1('abc')
sha2('abc', 256)
sha2('abc', 0)
crc32('abc')
hash('abc')
hash(1)
hash(1, 'a')
hash(NULL)
hash(1.5)
hash(DATE '2020-01-31')
hash(true)
hash(1L)
hash(cast(1.5 AS DOUBLE))
hash(array(1, 2))
murmur_hash('abc')
murmur_hash(1)
hash(array('a', 'b'))
hash(array('a', NULL, 'b'))
hash(array(1.5, 2.25))
hash(array(array(1), array(2, 3)))
hash(map('a', 1))
hash(map('a', 1, 'b', 2))
hash(named_struct('a', 1, 'b', 'x'))
hash(struct(1, 'a', NULL))
hash(array(named_struct('a', 1, 'b', 'x')))
hash(map('k', array(1, 2)))
hash(array(cast(1 AS BIGINT), 5000000000))
hash(array(DATE '2020-01-31'))
hash(array(TIMESTAMP '2020-01-31 12:34:56.789'))
hash(array(true, false))
hash(array(cast(1.5 AS DOUBLE)))
hash(1, array('a'))
murmur_hash(array('a', 'b'))
murmur_hash(array('a', NULL, 'b'))
murmur_hash(array(1, 2))
murmur_hash(array(array(1), array(2, 3)))
murmur_hash(map('a', 1))
murmur_hash(map('a', 1, 'b', 2))
murmur_hash(named_struct('a', 1, 'b', 'x'))
murmur_hash(struct(1, 'a', NULL))
murmur_hash(1, array('a'))
murmur_hash(array(named_struct('a', 1, 'b', 'x')))
murmur_hash(map('k', array(1, 2)))
hash(array())
murmur_hash(array())
mask('Abc-123')
mask_first_n('Abc-123', 2)
mask_last_n('Abc-123', 2)
mask_show_first_n('Abc-123', 2)
mask_show_last_n('Abc-123', 2)
mask_hash('abc')
aes_encrypt('abc', '1234567890123456')
-- dates and times
year('2020-02-29')
year(DATE '2020-02-29')
year('2020-02-29 12:00:00')
year('bad')
month('2020-02-29')
day('2020-02-29')
dayofmonth('2020-02-29')
dayofweek('2020-02-29')
quarter('2020-05-01')
weekofyear('2020-01-01')
weekofyear('2021-01-03')
hour('2020-02-29 12:34:56')
hour('12:34:56')
minute('2020-02-29 12:34:56')
second('2020-02-29 12:34:56')
extract(year FROM DATE '2020-02-29')
extract(week FROM DATE '2020-02-29')
extract(dayofweek FROM DATE '2020-02-29')
extract(hour FROM TIMESTAMP '2020-02-29 12:34:56')
date_add('2020-02-28', 2)
date_add(DATE '2020-02-28', 2)
date_add('2020-02-28 12:00:00', 2)
date_add('bad', 2)
date_add(TIMESTAMP '2020-02-28 12:00:00', 1)
date_sub('2020-03-01', 1)
datediff('2020-03-01', '2020-02-28')
datediff('2020-03-01 23:59:59', '2020-02-28 00:00:00')
datediff('bad', '2020-02-28')
to_date('2020-02-29 12:34:56')
to_date('2020-02-30')
to_date('bad')
to_date(TIMESTAMP '2020-02-29 12:34:56')
last_day('2020-02-10')
last_day('2020-02-10 12:00:00')
next_day('2020-02-29', 'MO')
next_day('2020-02-29', 'Monday')
next_day('2020-02-29', 'xx')
add_months('2020-01-31', 1)
add_months('2020-02-29', 12)
add_months('2020-02-29', 1)
add_months('2020-01-31', -1)
add_months('2020-01-31 12:34:56', 1)
add_months('2020-01-31', 1, 'yyyy/MM/dd')
months_between('2020-03-31', '2020-02-29')
months_between('2020-03-15', '2020-02-01')
months_between('2020-03-15 12:00:00', '2020-02-01 00:00:00')
months_between('1997-02-28 10:30:00', '1996-10-30')
months_between('1997-02-28 10:30:00', '1996-10-30', false)
trunc('2020-05-17', 'MM')
trunc('2020-05-17', 'YEAR')
trunc('2020-05-17', 'Q')
trunc('2020-05-17', 'xx')
trunc(1234.567, 2)
trunc(1234.567, -2)
trunc(1234.567)
unix_timestamp('2020-02-29 00:00:00')
unix_timestamp('2020-02-29')
unix_timestamp('29/02/2020', 'dd/MM/yyyy')
unix_timestamp('bad')
unix_timestamp(DATE '2020-02-29')
unix_timestamp(TIMESTAMP '2020-02-29 12:00:00')
to_unix_timestamp('2020-02-29 00:00:00')
from_unixtime(0)
from_unixtime(1582934400)
from_unixtime(1582934400, 'yyyy/MM/dd')
from_unixtime(1582934400, 'EEE, d MMM yyyy')
from_utc_timestamp('2020-02-29 12:00:00', 'America/New_York')
to_utc_timestamp('2020-02-29 12:00:00', 'PST')
from_utc_timestamp(TIMESTAMP '2020-02-29 12:00:00', 'Asia/Tokyo')
date_format('2020-02-29 13:14:15', 'yyyy-MM-dd HH:mm')
date_format('2020-02-29', 'E EEEE MMM MMMM')
date_format(DATE '2020-02-29', 'yy/M/d')
date_format(TIMESTAMP '2020-02-29 13:14:15.678', 'hh:mm a SSS')
date_format('2020-02-29', 'u')
date_format('2020-02-29', 'D')
date_format('2020-02-29', 'Q')
date_format('2020-12-31', 'YYYY')
date_format('bad', 'yyyy')
floor(TIMESTAMP '2020-05-17 12:34:56' TO DAY)
floor_month(TIMESTAMP '2020-05-17 12:34:56')
current_date = to_date(current_timestamp)
unix_timestamp(current_timestamp) > 0
tumbling_window(TIMESTAMP '2020-05-17 12:34:56', INTERVAL '1' HOUR)
-- numbers
round(2.5)
round(-2.5)
round(3.5)
round(2.567, 2)
round(1234.5, -2)
round(cast(2.5 AS DOUBLE))
round(cast(2.675 AS DOUBLE), 2)
round(5)
round(15, -1)
round(NULL)
round('2.5')
bround(2.5)
bround(3.5)
bround(cast(2.5 AS DOUBLE))
bround(2.35, 1)
bround(25, -1)
floor(2.7)
floor(-2.7)
floor(cast(2.7 AS DOUBLE))
floor(5)
ceil(2.1)
ceil(-2.1)
ceiling(cast(2.1 AS DOUBLE))
abs(-5)
abs(-5.5)
abs('-5')
sign(-3)
sign(-3.5)
sign(cast(-3.5 AS DOUBLE))
negative(5)
positive(5)
sqrt(16)
sqrt(-1)
sqrt('16')
exp(1)
ln(10)
ln(0)
ln(-1)
log(2, 8)
log(10)
log10(100)
log2(8)
pow(2, 10)
power(2, 0.5)
cbrt(27)
factorial(5)
factorial(21)
sin(1)
cos(1)
tan(1)
asin(1)
asin(2)
acos(1)
atan(1)
degrees(pi())
radians(180)
e()
pi()
width_bucket(5, 0, 10, 5)
shiftleft(1, 4)
shiftright(-16, 2)
shiftrightunsigned(-16, 28)
-- collections
array(1, 2, 3)
array(1, 2.5)
array('a', NULL)
array()
array(1, 2, 3)[0]
array(1, 2, 3)[3]
array(1, 2, 3)[-1]
map('a', 1, 'b', 2)
map('a', 1)['a']
map('a', 1)['b']
map(1, 'x')[1]
size(array(1, 2))
size(NULL)
size(map('a', 1))
map_keys(map('a', 1, 'b', 2))
map_values(map('a', 1, 'b', 2))
array_contains(array(1, 2), 2)
array_contains(array(1, NULL), 3)
array_contains(array('a'), NULL)
sort_array(array(3, 1, NULL, 2))
sort_array_by(array(named_struct('a', 2), named_struct('a', 1)), 'a')
struct(1, 'a')
named_struct('a', 1, 'b', 'x')
named_struct('a', 1, 'b', 'x').b
create_union(0, 1, 'a')
array_min(array(3, 1, 2))
array_max(array(3, 1, 2))
array_distinct(array(1, 1, 2))
array_join(array('a', NULL, 'b'), '-')
array_slice(array(1, 2, 3, 4), 1, 2)
array_except(array(1, 2, 3), array(2))
array_intersect(array(1, 2, 3), array(2, 3))
array_union(array(1, 2), array(2, 3))
array_remove(array(1, 2, 1), 1)
array_position(array(5, 6), 6)
array_append(array(1), 2)
array_compact(array(1, NULL))
index(array(1, 2), 1)
split('a,b', ',')[1]
map('a', array(1, 2))['a'][1]
array(named_struct('x', 1), named_struct('x', 2)).x
-- types and the rest
typeof(1)
typeof(1.5)
typeof(array(1))
typeof(1 / 2)
typeof(1 + 1.5)
current_database()
nullif('a', 'a')
cast(NULL AS INT)
NULL
uuid() IS NOT NULL
length(version()) > 0
bit_length('abc')
java_method('java.lang.Math', 'max', 2, 3)
reflect('java.lang.String', 'valueOf', 1)
xpath_string('<a><b>x</b></a>', 'a/b')
xpath_int('<a><b>1</b></a>', 'a/b')
xpath('<a><b>1</b><b>2</b></a>', 'a/b/text()')
likeany('abc', 'a%', 'b')
rand(1) < 1
rand(5)
rand(0)
-- more edges
cast('2020-01-31abc' AS DATE)
cast('20-01-31' AS DATE)
cast('2020-13-01' AS DATE)
cast('2020-01-311' AS DATE)
cast('12020-01-31' AS DATE)
cast('2020-01-31 abc' AS DATE)
cast('2020-01-31 12:34:56 abc' AS TIMESTAMP)
cast('2020-01-31 1:2:3' AS TIMESTAMP)
cast('2020-1-3 1:2:3' AS TIMESTAMP)
cast('2020-01-31 12:34:56.123456789' AS TIMESTAMP)
cast('2020-01-31abc' AS TIMESTAMP)
cast('abc' AS TIMESTAMP)
cast('' AS TIMESTAMP)
cast('2020-01-31 12:34:60' AS TIMESTAMP)
cast('2020-01-31 12:34:56 UTC' AS TIMESTAMP)
cast('2020-02-30 12:34:56' AS TIMESTAMP)
year('2020-02')
year('2020')
year('2020-02-30')
month('2020-2-9')
day('abc')
hour('2020-02-29')
hour('2020-02-29 25:00:00')
minute('12:34')
date_add('2020', 1)
datediff('2020-03', '2020-01-01')
to_date('2020')
to_date('2020-02-29abc')
last_day('2020-02')
next_day('2020-02', 'MO')
add_months('2020-02', 1)
months_between('2020-02', '2020-01-01')
trunc('2020-02', 'MM')
trunc('2020-02-17', 'WEEK')
trunc('2020-02-17', 'mon')
trunc('2020-02-17', 'yy')
unix_timestamp('2020-02-29 12:34')
unix_timestamp('2020-2-9 1:2:3')
unix_timestamp('2020-02-29 12:34:56.5')
unix_timestamp('2020-02-29', 'yyyy-MM-dd')
unix_timestamp('2020-02-29 abc', 'yyyy-MM-dd')
date_format('2020-02', 'yyyy')
date_format('2020-02-29', 'w')
date_format('2020-02-29', 'e')
date_format('2020-02-29', 'd/M/yyyy G')
date_format('2020-02-29 01:02:03', 'K k h H')
date_format('2020-02-29', "yyyy 'of' MM")
date_format('2020-02-29', 'MMMMM')
date_format('2020-02-29', 'EEEEE')
date_format('2020-02-29', 'bad pattern')
from_unixtime(1582934400, 'u')
from_unixtime(1582934400, 'Y')
to_date('29/02/2020')
cast('  true ' AS BOOLEAN)
cast('FALSE' AS BOOLEAN)
cast('No' AS BOOLEAN)
cast('n' AS BOOLEAN)
cast('0.0' AS BOOLEAN)
cast('null' AS BOOLEAN)
cast(DATE '2020-01-01' AS BOOLEAN)
cast(DATE '2020-01-01' AS INT)
cast(TIMESTAMP '2020-01-01 00:00:00' AS BOOLEAN)
cast(1.5e0 AS DECIMAL(5,2))
cast('1e2' AS DECIMAL(5,2))
cast('12.' AS INT)
cast('.5' AS INT)
cast('-' AS INT)
cast('1_000' AS INT)
cast('1L' AS INT)
cast('1f' AS DOUBLE)
cast('0x10' AS DOUBLE)
cast('1e400' AS DOUBLE)
cast(1e10 AS STRING)
cast(1e-3 AS STRING)
cast(100.0 AS STRING)
cast(1e40 AS FLOAT)
cast(12345678.9 AS FLOAT)
cast('a' AS CHAR(3)) || 'b'
cast('a ' AS VARCHAR(5)) || 'b'
upper(cast('ab' AS VARCHAR(5)))
1.0
1.50
1.0 + 1
2.00 * 3
1.10
100.00
10.0 / 4
1.0 = 1
cast(1 AS DECIMAL(10,2))
array(1.50, 2)
map('a', 1.50)
named_struct('d', cast(1.5 AS DECIMAL(5,3)))
array(1.5e0, 2)
array(true, false)
array(DATE '2020-01-01')
array(TIMESTAMP '2020-01-01 00:00:00')
array('a"b', 'c\\d')
map(1, 'a', 2, NULL)
array(array(1), array(2, 3))
named_struct('a', NULL)
array(cast('ab' AS BINARY))
cast(1 AS BIGINT) = '1'
cast(1 AS BIGINT) = 1.5e0
cast(1 AS BIGINT) = 1
cast(1.5 AS DECIMAL(5,2)) = '1.5'
1 = '1.0'
'a' < 1
true = 'TRUE'
true > 'x'
DATE '2020-01-01' = '2020-01-01 00:00:00'
DATE '2020-01-01' = 'abc'
DATE '2020-01-01' > '2019'
TIMESTAMP '2020-01-01 00:00:00' > 'abc'
TIMESTAMP '2020-01-01 00:00:00' > '2019-12-31 23:59'
DATE '2020-01-01' = 1
TIMESTAMP '2020-01-01 00:00:00' = 1
1 IN ('1.0', '2')
'1.0' IN (1, 2)
'5' BETWEEN 1 AND 10
1 BETWEEN '0' AND '5'
CASE '1.0' WHEN 1 THEN 'y' ELSE 'n' END
CASE 1 WHEN '1.0' THEN 'y' ELSE 'n' END
nullif('1.0', 1)
coalesce(1, 'a')
if(true, 1, 'a')
nvl(1, 'x')
array(1, 'a')
greatest(1, '2')
greatest('10', 9)
least(1, 2.5, 0.5e0)
concat(1.0, true)
concat(DATE '2020-01-01', 1.5e0)
concat(cast(1 AS DECIMAL(5,2)))
concat_ws(',', 1)
'1' + 1
'1' + 1.5
1 + true
true + true
DATE '2020-01-01' + 1
'2020-01-01' + INTERVAL '1' DAY
5 / 2.0e0
cast(5 AS DECIMAL(10,0)) / 2
cast(5 AS TINYINT) / cast(2 AS TINYINT)
-1.5
- 1.50
+1.5
5 % 2.5
5.5 % 2e0
pmod(7.5, -2)
pmod(-7, 0)
pmod(-7L, 3)
pmod('7', 3)
abs(-2147483648)
negative(1.5)
round(1.005, 2)
round(-1.5)
round(2.5, 3)
round(125, -1)
round(1e10, 2)
round(cast(1.5 AS FLOAT))
floor('2.7')
floor(cast(2.7 AS FLOAT))
ceil(-0.5)
sqrt(2)
exp('a')
log(0)
log(-1, 2)
log(1, 2)
log10(0)
log2(-1)
pow(-1, 0.5)
power('2', 3)
acos(2)
asin(-2)
atan(1e10)
factorial(0)
factorial(-1)
greatest(1)
length(123)
upper(1)
substr(12345, 2, 3)
substr('hello', -5)
substr('hello', -6)
substr('hello', -6, 2)
substr('hello', 1, 100)
substr(cast('hello' AS BINARY), 2, 2)
instr('hello', 'lo')
instr(12345, '3')
locate('a', NULL)
lpad('ab', 1, '')
rpad('ab', 0, 'x')
lpad('ab', 2, '')
lpad('ab', 5, '')
repeat('a', 0)
trim(12)
trim('')
trim(BOTH 'x' FROM 'xax')
initcap('ab1cd 2e')
split('a.b', '.')
split('a|b', '\\|')
split('aXbX', 'X')
split('', '')
regexp_replace('abc', '', '-')
regexp_replace('a1b2', '[0-9]', '')
regexp_replace(NULL, 'a', 'b')
regexp_extract('abc', '', 0)
regexp_extract('abc', 'b', 2)
regexp_extract(NULL, 'b', 0)
'abc' RLIKE NULL
'a\nb' LIKE 'a_b'
'a%' LIKE 'a\\%'
'ab' LIKE 'a\\b'
'a\\b' LIKE 'a\\b'
'' LIKE ''
'' LIKE '%'
NULL LIKE 'a'
concat_ws(',', 'a', array('b', NULL, 'c'))
concat_ws(',', cast(NULL AS STRING))
find_in_set('', 'a,,b')
find_in_set(NULL, 'a')
elt(0, 'a')
elt(1, 1, 'b')
field('a', 'b')
field(NULL, 'a')
field(2, 1, 2)
conv('11', 2, 16)
conv(255, 10, 16)
conv('-1', 10, 16)
bin(0)
hex('')
hex(1.5)
unhex('4')
soundex('')
levenshtein('', 'abc')
format_number(1234567.891, 3)
format_number(-1.5, 0)
format_number(2.5, 0)
printf('%s', NULL)
printf('%d', 5L)
printf('%s %s', 'a', 1)
base64(unhex('00ff'))
crc32('')
sha2('abc', 512)
sha2('abc', 224)
sha2('abc', 1)
md5('')
mask('Abc-123', 'A', 'b', '9')
mask(NULL)
mask_first_n('Abcdefg')
mask_last_n('Abcdefg')
mask_show_first_n('Abcdefg')
mask_show_last_n('Abcdefg')
mask_first_n('Ab', 5)
mask_show_first_n('Ab', 5)
mask_show_last_n('Ab', 5)
mask_last_n('Ab', 5)
mask('é1')
str_to_map('')
str_to_map('a:1,a:2')
get_json_object('{"a b":1}', '$.a b')
get_json_object('[1,2]', '$[1]')
get_json_object('{"a":[1,2]}', '$.a[5]')
get_json_object('{"a":"x\\"y"}', '$.a')
get_json_object('{"a":{"b":1.0}}', '$.a')
get_json_object('{"a":1e3}', '$.a')
get_json_object('{"A":1}', '$.a')
get_json_object(NULL, '$.a')
parse_url('http://u:p@h.com:80/p/q?x=1&y=2#f', 'PATH')
parse_url('http://u:p@h.com:80/p/q?x=1&y=2#f', 'AUTHORITY')
parse_url('http://u:p@h.com:80/p/q?x=1&y=2#f', 'USERINFO')
parse_url('http://h.com/p?x=1', 'FILE')
parse_url('http://h.com/p?x=1', 'bad')
next_day('2020-02-29', 'SU')
next_day('2020-02-29', 'sunday')
next_day('2020-02-29', NULL)
add_months('2020-01-31', '1')
add_months(DATE '2020-01-31', 1)
add_months(TIMESTAMP '2020-01-31 10:00:00', 1)
add_months('bad', 1)
add_months('2020-01-31 10:20:30', 1, 'yyyy-MM-dd HH:mm:ss')
months_between(DATE '2020-03-31', DATE '2020-01-31')
floor_week(TIMESTAMP '2020-05-17 12:34:56')
floor_year(TIMESTAMP '2020-05-17 12:34:56')
floor_quarter(TIMESTAMP '2020-05-17 12:34:56')
floor_day(TIMESTAMP '2020-05-17 12:34:56')
floor_hour(TIMESTAMP '2020-05-17 12:34:56')
floor_minute(TIMESTAMP '2020-05-17 12:34:56')
floor_second(TIMESTAMP '2020-05-17 12:34:56')
floor(DATE '2020-05-17' TO MONTH)
extract(month FROM '2020-05-17')
extract(day FROM TIMESTAMP '2020-05-17 12:34:56')
extract(second FROM TIMESTAMP '2020-05-17 12:34:56.5')
extract(quarter FROM DATE '2020-05-17')
extract(year FROM INTERVAL '1-2' YEAR TO MONTH)
dayofweek(DATE '2020-02-23')
INTERVAL '1' YEAR
INTERVAL 2 MONTHS
INTERVAL '1 2:3:4' DAY TO SECOND
INTERVAL '-1' DAY
- INTERVAL '1' DAY
DATE '2020-01-31' + INTERVAL '1-1' YEAR TO MONTH
DATE '2020-01-31' + INTERVAL '1' YEAR
TIMESTAMP '2020-01-31 10:00:00' + INTERVAL '1' MONTH
TIMESTAMP '2020-01-31 10:00:00' - DATE '2020-01-01'
INTERVAL '1' DAY + INTERVAL '2' HOUR
INTERVAL '1' DAY = INTERVAL '24' HOUR
DATE '2020-01-01' + 1 MONTH
array_slice(array(1, 2, 3), 0, 5)
array_slice(array(1, 2, 3), -2, 1)
array_slice(array(1, 2, 3), 5, 1)
array_contains(NULL, 1)
array_contains(array('a', 'b'), 'b')
array_position(array(1), 5)
array_join(array('a', NULL), ',', 'x')
array_join(array(1, 2), ',')
array_min(array(NULL, 1))
array_distinct(array(NULL, 1, NULL))
array_union(array(1, NULL), array(NULL, 2))
array_except(array(1, 1, 2), array(2))
sort_array(array('b', 'a'))
sort_array(array(1, 2), false)
size(array())
map_keys(map())
map('a', 1, 'a', 2)
map_values(NULL)
split('a,b', ',')[5]
map('a', 1)[NULL]
cast(1 AS BOOLEAN) AND 'true'
if('true', 1, 2)
if(1, 1, 2)
NOT 1
width_bucket(-1, 0, 10, 5)
width_bucket(11, 0, 10, 5)
positive('5')
sign('-3')
degrees(1)
rand() < 1
quote(NULL)
substring_index('a.b', '', 1)
translate('abc', 'b', '')
char_length(NULL)
octet_length('')
nvl(NULL, NULL)
isnull(1)
bround(1.5)
bround(2.5, 0)
bround(-2.5)
bround(1.25, 1)
shiftleft(1L, 40)
1 << 2
typeof(NULL)
typeof('a')
typeof(cast('a' AS CHAR(3)))
typeof(DATE '2020-01-01' + INTERVAL '1' DAY)
typeof(sum(1))
typeof(7 % 2.5)
typeof(cast(1 AS TINYINT) + 1)
typeof(cast(1 AS FLOAT) + 1)
typeof(cast(1 AS FLOAT) / 2)
typeof(abs(cast(-1 AS SMALLINT)))
typeof(round(1.2345, 2))
typeof(floor(1.5))
typeof(cast(1 AS DECIMAL(5,2)) + cast(1 AS BIGINT))
typeof(cast(1 AS TINYINT) * 2.5)
typeof(cast(1 AS SMALLINT) * 2.5)
typeof(coalesce(1, 2L))
typeof(if(true, cast(1 AS FLOAT), 1.5))
typeof(CASE WHEN true THEN DATE '2020-01-01' ELSE TIMESTAMP '2020-01-01 00:00:00' END)
typeof(greatest(1, 2L))
regexp('a', 'a')
between(1, 0, 2)
date_sub(DATE '2020-01-01', -1)
date_add(DATE '2020-01-01', cast(1 AS SMALLINT))
date_add(DATE '2020-01-01', 1.5)
date_add(DATE '2020-01-01', '1')
datetime_legacy_hybrid_calendar(DATE '2020-01-01')
to_utc_timestamp('2020-02-29', 'Asia/Tokyo')
from_utc_timestamp('bad', 'UTC')
from_unixtime(1.5e0)
from_unixtime('0')
unix_timestamp(0)
current_user() IS NOT NULL
logged_in_user() IS NOT NULL
-- precedence of operators
false = false in (true, false)
true = false in (true, false)
2 + 1 in (3)
1 + 1 = 2
2 * 3 in (6)
not 1 in (1)
not false = true
not true = false
not false in (true)
not true and false
not false or true
true or true and false
true or false and false
false and false or true
1 = 1 and 2 = 2
1 = 1 or 1 = 2 and 1 = 2
1 between 0 and 2 and true
1 between 0 and 2 = true
true = 1 between 0 and 2
not 1 between 0 and 2
1 + 1 between 2 and 3
1 between 0 + 1 and 2 * 3
1 between 2 and 3 or true
'a' like 'a' = true
true = 'a' like 'b'
not 'a' like 'a'
'a' || 'b' like 'ab'
'ab' like 'a' || 'b'
false = 1 is null
not null is null
1 + null is null
1 = null is null
null = 1 is null
1 = 1 is true
1 = 2 is false
1 = 2 is not true
not 1 = 2 is false
1 < 2 = true
1 < 2 = 2 < 3
1 = 1 = true
1 <> 2 = true
true = 1 < 2
1 = 1 <> false
1 & 2 = 0
1 | 2 = 3
4 ^ 1 + 2
1 | 2 & 3
6 & 3 | 8
1 ^ 3 & 2
5 ^ 1 | 8
1 + 2 & 3
2 * 3 + 4
2 + 3 * 4
7 - 2 - 1
16 / 4 / 2
7 % 4 * 2
2 * 7 % 4
- 2 + 3
-2 * -3
- 3 % 2
~ 1 + 1
~1 & 3
1 - -1
1 || 2 + 3
1 + 2 || 3
'a' || 1 + 2
2 * 3 || 4
1 || 2 = '12'
1 in (1) = true
1 in (2) is false
1 in (1) and 2 in (3)
not 1 in (2) and true
1 not in (2) = true
true = 1 not in (2)
'a' rlike 'a' = true
true = 'a' regexp 'b'
1 not between 2 and 3
true = 1 not between 2 and 3
1 is not null and 2 is null
1 is null or true
1 <=> null is null
null <=> null = true
true <=> 1 = 2
1 = 2 <=> false
1 != 2 = true
1 == 1 = true
! true
! false or true
!false = true
1 is distinct from 2
1 is distinct from 2 = true
1 is not distinct from 2 = false
true = 1 is distinct from 2
5 - 3 in (2) = true
-1 in (-1)
1 in (1) or 1 = 2 and false
exists (select 1) = true
true = exists (select 1)
1 in (1) is true
1 like '1' is true
1 = 1 like 'true'
1 < 2 is true
-- values that are written into text, and numbers that do not fit
cast(cast(1037.5 as decimal(10,2)) as tinyint)
cast(cast(1037.5 as decimal(10,2)) as smallint)
cast(cast(100000.5 as decimal(10,2)) as smallint)
cast(cast(3000000000.5 as decimal(20,2)) as int)
cast(cast(99999999999999999999 as decimal(30,0)) as bigint)
cast(1037.5 as tinyint)
cast(-128.9 as tinyint)
cast(-129.0 as tinyint)
cast(127.9 as tinyint)
cast(128.0 as tinyint)
cast(1037 as tinyint)
cast('1037.5' as tinyint)
substr('ABC', 1, 2147483649)
substr('ABC', 2147483648)
substr('ABC', 2147483649, 1)
substr('ABC', 1, 2147483647)
substr('ABC', -2, 2147483647)
substr('ABC', 2, -1)
substr('ABC', 0)
substr('ABC', cast(1 as bigint))
substring('ABC', 1, cast(2 as bigint))
array_join(array(), ':')
array_join(array('a', 'b'), ':')
array_join(array('a', NULL), ':')
array_join(array('a', NULL), ':', 'x')
array_join(array(1, 2), ':')
array_join(array(), ':', 'x')
greatest(10L, 'a')
greatest(10, '9')
least(10L, 'a')
least(10, '9')
greatest('a', 'b')
greatest(1.5, 2)
greatest(10L, '9', 'abc')
greatest(cast(1.5 as float), '1')
greatest(1, 'NaN')
greatest(1, 2.5, cast(3 as double))
greatest(10, '10')
least(1.5, 'a')
lpad(true, 6, 'z')
rpad(true, 6, 'z')
lpad(1, 3, '0')
lpad(1.50, 6, 'x')
concat(true, 'a')
concat_ws('-', 'a', cast(true as string))
length(cast(true as string))
trim(cast(true as string))
lpad(date '2020-01-01', 12, 'x')
lpad(cast(1.5 as double), 6, 'z')
concat(cast(1.0 as float), '')
md5(cast(true as string))
space(1) || true
printf('%s', timestamp '2020-01-01 01:02:03')
printf('%s', date '2020-01-01')
printf('%s %s', true, 1.50)
printf('%s', cast(1.5 as double))
printf('%s', cast(1.5 as float))
printf('%s', timestamp '2020-01-01 01:02:03.5')
printf('%s', cast(null as string))
printf('%d', 5)
printf('%5.2f', 1.5)
printf('%s', 1L)
printf('%s', cast(1.50 as decimal(5,2)))
printf('%.3f', cast(1.50 as decimal(5,2)))
format_number(1234.5, 2)
greatest(DATE '2020-01-01', '2019-01-01')
greatest(DATE '2020-01-01', '2021-01-01')
least(DATE '2020-01-01', '2019-12-31 10:00:00')
greatest(DATE '2020-01-01', 'abc')
greatest(TIMESTAMP '2020-01-01 00:00:00', '2020-01-01 00:00:00.5')
greatest(DATE '2020-01-01', TIMESTAMP '2020-01-01 10:00:00')
least(TIMESTAMP '2020-01-01 00:00:00', DATE '2019-12-31', '2018-05-05')
greatest(true, '0.5')
greatest(true, 'a')
greatest(true, false)
coalesce(true, 'x')
coalesce(NULL, false, 'x')
nvl(false, 'x')
coalesce('x', true)
if(true, false, 'x')
if(false, 'x', true)
CASE WHEN true THEN true ELSE 'abc' END
CASE 1 WHEN 2 THEN 'abc' WHEN 1 THEN false END
coalesce(true, 1)
coalesce(DATE '2020-01-01', 'x')
if(true, TIMESTAMP '2020-01-01 00:00:00', 'x')
field('66', 66, 66.0, '66')
field(66, '66', 'a')
field(66, 66.0, 66)
field(66L, 66)
field(66, 66L, 66)
field(1.5, 1.50, 2)
field('a', cast('a' AS VARCHAR(3)), 'a')
field(true, 'true', true)
field(DATE '2020-01-01', '2020-01-01', DATE '2020-01-01')
field(66, 66L)
conv(' ', 10, 16)
conv('  12', 10, 16)
conv('12 ', 10, 16)
conv(' -1', 10, 16)
conv(' ', 36, 2)
-- intervals, mixed types and what else was refused
interval_year_month('10-11')
interval_year_month('-1-2')
interval_year_month('bad')
interval_year_month(cast('1-2' AS CHAR(10)))
interval_year_month('10-11') = interval '10-11' year to month
interval_day_time('2 1:2:3')
interval_day_time('10 9:8:7.987654')
interval_day_time('bad')
interval_year_month('1-2') + interval_year_month('3-4')
interval_day_time('1 2:3:4') - interval_day_time('0 1:1:1')
date '2020-01-31' + interval_year_month('0-1')
interval '5-5' year to month
interval '49' month
- interval '1-2' year to month
interval (1 + 1) day
interval (7) month
year(interval '10-11' year to month)
month(interval '10-11' year to month)
day(interval '10 9:8:7' day to second)
hour(interval '10 9:8:7' day to second)
minute(interval '10 9:8:7' day to second)
second(interval '10 9:8:7' day to second)
cast(interval '10-11' year to month AS STRING)
cast(interval '10 9:8:7' day to second AS STRING)
concat(interval '1-2' year to month, 'x')
get_json_object('[1,2,3]', '$.[0]')
get_json_object('[1,2,3]', '$.[1]')
get_json_object('{"a":[1,2]}', '$.a.[1]')
str_to_map(cast('a:1,b:2,c:3' AS CHAR(20)), ',', ':')
str_to_map(cast('a:1,b:2' AS VARCHAR(20)))
least(10L, 'a', date '2001-01-28')
greatest(10L, 'a', date '2001-01-28')
least(1, date '2001-01-28', '2')
greatest(1, '2', timestamp '2001-01-28 00:00:00')
greatest(1.5, 'x', date '2001-01-28')
least(true, 'a')
least(10L, date '2001-01-28')
to_epoch_milli(timestamp '2012-02-11 04:30:00')
to_epoch_milli(timestamp '1960-02-11 04:30:00.123')
json_read('[{"name":"john","n":1},{"name":"x","n":null}]', 'array<struct<name:string,n:int>>')
json_read('{"a":{"b":[1,2]}}', 'struct<a:struct<b:array<int>>>')
aes_decrypt(unbase64('y6Ss+zCYObpCbgfWfyNWTw=='), '12345678901234567')
aes_decrypt(unbase64('y6Ss+zCYObpCbgfWfyNWTw=='), '')
hex(aes_encrypt('abc', '1234'))
trunc('2020-05-17', cast(NULL AS STRING))
cast(timestamp '2020-01-01 00:00:00' AS STRING)
timestamp '2020-01-01 00:00:00' > 0
date '2020-01-01' > 0
timestamp '2020-01-01 00:00:00' = 1577836800
from_utc_timestamp('2012-02-11 04:30:00', 'GMT+8')
from_utc_timestamp('2012-02-11-04:30:00', 'PST')
to_utc_timestamp('2012-02-11-04:30:00', 'PST')
sort_array_by(array(named_struct('a', 2, 'b', 1), named_struct('a', 1, 'b', 5), named_struct('a', cast(NULL AS INT), 'b', 0)), 'a')
field(66, '66', 66)
field('66', 66, '66')
percentile_approx(1, 0.5)
least(timestamp '2020-01-01 00:00:00', date '2019-01-01')
greatest(date '2020-01-01', 3)
date '2020-01-01' = '2020-01-01'
date '2020-01-01' < 3
1 IN (date '2020-01-01')
from_utc_timestamp('2012-02-11T04:30:00', 'Europe/Moscow')
to_utc_timestamp('2012-02-11', 'Asia/Tokyo')
from_utc_timestamp('x', 'UTC')
from_utc_timestamp(date '2012-02-11', 'PST')
aes_decrypt(aes_encrypt('abc', '1234567890123456'), '1234567890123456')
get_json_object('[[1,2],[3]]', '$.[0][1]')
hash(cast(1.5 AS FLOAT))
hash(cast(-51.0 AS FLOAT))
hash(-1.5D)
hash(cast(-5 AS TINYINT))
hash(cast(-500 AS SMALLINT))
hash(-7L)
hash(-5000000000L)
hash(TIMESTAMP '2020-01-31 12:34:56.789')
hash(TIMESTAMP '1969-12-31 15:59:51.385')
hash(TIMESTAMP '1960-01-01 00:00:00')
hash('a', cast(1.5 AS FLOAT), 2.5D, true, TIMESTAMP '1969-12-31 15:59:51.385', cast(-51 AS TINYINT), cast(-13036 AS SMALLINT), 528534767, 1802498539L)
hash(cast(-51 AS TINYINT), 528534767, 1802498539L, cast(-51.0 AS FLOAT), 'cvLH6Eat2yFsyy7p', TIMESTAMP '1969-12-31 15:59:46.674', cast(NULL AS TIMESTAMP), true)
quote(interval '1' day)
quote(date '2020-01-01')
quote(1)
quote(true)
quote(timestamp '2020-01-01 00:00:00')
quote(1.50)
quote(cast(1.5 AS FLOAT))
cast('2016-01-03 12:26:34.0123 UTC' AS timestamplocaltz)
cast(timestamp '2016-01-03 12:26:34' AS TIMESTAMPLOCALTZ)
(1) second
(2) months
cast(timestamp '2020-02-03 04:05:06.789' as string format 'yyyy hh24...PM ff')
cast(timestamp '2020-02-03 16:05:06.789' as char(11) format 'yyyy hh24...PM ff')
cast(date '2020-02-03' as varchar(10) format 'yyyy mm dd , hh24 mi ss ff9')
cast(timestamp '1969-12-31 23:59:59.999999' as string format 'yyy yy y rrrr rr mm dd ddd hh hh12 hh24 mi ss sssss')
cast(timestamp '2021-09-07 00:00:00' as string format 'hh hh12 hh24 sssss ff ff3 AM pm A.M. p.m. Am')
cast(timestamp '1969-12-31 23:59:59.999999' as string format 'ff1 ff2 ff3 ff4 ff5 ff6 ff7 ff8 ff9 ff')
cast(timestamp '1969-12-31 01:00:00' as string format 'iyyy iyy iy i iw id')
cast(timestamp '1969-12-31 01:00:00' as string format 'd q ww w')
cast(timestamp '2020-05-03 01:00:00' as string format 'MONTH/Month/month/MON/Mon/mon/DAY/Day/day/DY/Dy/dy')
cast(timestamp '2020-02-03 04:05:06' as string format 'FMMONTH-FMDay-FMMM-FMDD-FMYYYY-FMHH12-FMSS-FMDDD')
cast(date '0009-10-11' as string format 'yyyy-mm-ddThh24:mi:ssz "in a Text"\'')
cast(cast(null as timestamp) as string format 'AM')
cast(date '2020-02-03' as string format '')
cast('20 / 2 / 3' as date format 'yyyy.mm.dd')
cast('2020-13-01' as date format 'yyyy-mm-dd')
cast('2021-02-29' as date format 'yyyy-mm-dd')
cast('20200203' as date format 'yyyymmdd')
cast('2020-2-3x' as date format 'yyyy-mm-dd')
cast(' 2020-02-03' as date format 'yyyy-mm-dd')
cast('2020-366' as date format 'yyyy-ddd')
cast('2019-366' as date format 'yyyy-ddd')
cast('2020-02-03 01:02:03 pm' as timestamp format 'yyyy-mm-dd hh12:mi:ss AM')
cast('2020-02-03 12:02:03 a.m.' as timestamp format 'yyyy-mm-dd hh12:mi:ss PM')
cast('2020-02-03 13' as timestamp format 'yyyy-mm-dd hh')
cast('2020-02-03 0' as timestamp format 'yyyy-mm-dd hh')
cast('2020-02-03 24' as timestamp format 'yyyy-mm-dd hh24')
cast('2020-02-03 86399' as timestamp format 'yyyy-mm-dd sssss')
cast('2020-02-03 86400' as timestamp format 'yyyy-mm-dd sssss')
cast('2020-02-03 01:02:60' as timestamp format 'yyyy-mm-dd hh24:mi:ss')
cast('2020-02-03 01:02:03.5' as timestamp format 'yyyy-mm-dd hh24:mi:ss.ff')
cast('2020-02-03 01:02:03.123456' as timestamp format 'yyyy-mm-dd hh24:mi:ss.ff3')
cast('03-MARCH-2020' as date format 'dd-month-yyyy')
cast('03-maR-2020' as date format 'dd-mon-yyyy')
cast('2020-02-03T04:05:06Z' as timestamp format 'yyyy-mm-ddthh24:mi:ssz')
cast('2020-02-03 04:05:06 -08:30' as timestamp format 'yyyy-mm-dd hh24:mi:ss tzh:tzm')
cast('YEAR 2020 (month 02) day 03' as date format '"Year" yyyy "(MONTH" mm")" "day" dd')
cast('2015-05-15 12::00' as timestamp format 'yyyy-mm-dd hh:mi:ss')
cast(cast('2020-02-03' as char(12)) as date format 'yyyy-mm-dd')
cast(null as date format 'yyyy-mm-dd')
cast('2020' as date format 'yyyy')
cast('2020' as date format 'yyyy-mm-mon-dd')
cast('2020' as date format 'yyyy-mm-dd hh24 am')
cast(date '2020-01-01' as string format 'yyyy e')
cast(date '2020-01-01' as string format 'yyyy tzh')
cast(date '2020-01-01' as string format 'FM-yyyy')
cast(1 as string format 'yyyy')
cast(date '2020-01-01' as timestamp format 'yyyy')
array_join(array(1.12, 2.90, 3.00, 100), ',')
mask_first_n('TestString-123', 4, 'X', 'x', '0', ':')
mask_show_last_n('TestString-123', 4, 'X', 'x', '0', ':')
mask_last_n('TestString-123', 4, 'X', 'x', '0', -1)
mask_show_first_n('TestString-123', 4, 'Q', 'q', '9')
reflect2('ab', 'concat', 'c')
reflect2(5, 'byteValue')
-- masks of numbers and dates, maps in NULLIF, lists of lists as text, zones behind a day
mask(cast(-128 AS TINYINT))
mask(cast(12 AS TINYINT))
mask(cast(123 AS TINYINT))
mask(cast(345 AS SMALLINT))
mask(-123)
mask(0)
mask(4567890123)
mask(9223372036854775807)
mask(1.5)
mask(12.30D)
mask(cast(2.25 AS FLOAT))
mask(true)
mask(DATE '2016-04-20')
mask(TIMESTAMP '2016-04-20 01:02:03')
mask(cast('Ab1' AS BINARY))
mask(cast('aB1' AS CHAR(5)))
mask(cast('Xy-9' AS VARCHAR(5)))
mask(12345, 'x', 'x', 'x', 'x', '5')
mask(12345, 'x', 'x', 'x', 'x', 5)
mask(12345, 'x', 'x', 'x', 'x', -1)
mask(12345, 'x', 'x', 'x', 'x', 'y')
mask(cast(123 AS TINYINT), -1, -1, -1, -1, '5')
mask('TestString-123', 'a', 'b', 'c', 'd')
mask('TestString-123', -1, 'b', 'c', 'd')
mask(DATE '2016-04-20', 'x', 'x', 'x', 'x', '5', '1', '5', '2018')
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, 7, -1, 2018)
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, 7, 3, -1)
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, -1, -1, -1)
mask_first_n(-12345)
mask_first_n(-12345, 2)
mask_first_n(12345, 9)
mask_first_n(12345, 0)
mask_first_n(0, 0)
mask_first_n(0, 1)
mask_first_n(4567890123, 4)
mask_first_n(cast(123 AS TINYINT), 1)
mask_first_n(cast(123 AS TINYINT), 4, -1, -1, -1, -1, '5')
mask_first_n(cast(12345 AS SMALLINT), 4, -1, -1, -1, -1, '5')
mask_first_n(DATE '2016-04-20', 4)
mask_first_n(true)
mask_first_n(1.5D, 2)
mask_first_n(12.30, 2)
mask_first_n(TIMESTAMP '2016-04-20 01:02:03', 2)
mask_last_n(-12345)
mask_last_n(-12345, 2)
mask_last_n(12345, 9)
mask_last_n(12345, 0)
mask_last_n(0)
mask_last_n(0, 0)
mask_last_n(4567890123, 4)
mask_last_n(cast(12345 AS SMALLINT), 4, -1, -1, -1, -1, '5')
mask_last_n(DATE '2016-04-20', 4)
mask_show_first_n(-12345)
mask_show_first_n(-12345, 2)
mask_show_first_n(12345, 9)
mask_show_first_n(12345, 0)
mask_show_first_n(0)
mask_show_first_n(0, 0)
mask_show_first_n(4567890123, 4)
mask_show_first_n(cast(12345 AS SMALLINT), 4, -1, -1, -1, -1, '5')
mask_show_first_n(DATE '2016-04-20', 4)
mask_show_last_n(-12345)
mask_show_last_n(-12345, 2)
mask_show_last_n(12345, 9)
mask_show_last_n(12345, 0)
mask_show_last_n(0)
mask_show_last_n(0, 0)
mask_show_last_n(4567890123, 4)
mask_show_last_n(cast(12345 AS SMALLINT), 4, -1, -1, -1, -1, '5')
mask_show_last_n(12345, 4, -1, -1, -1, -1, '5')
mask_show_last_n(DATE '2016-04-20', 4)
mask_hash(123)
mask_hash(cast(12 AS TINYINT))
mask_hash(4567890123)
mask_hash(DATE '2016-04-20')
mask_hash(true)
mask_hash(1.5D)
mask_hash(12.30)
mask_hash(TIMESTAMP '2016-04-20 01:02:03')
mask_hash(cast('Ab1' AS BINARY))
mask_hash(cast('aB1' AS CHAR(5)))
mask_hash(cast('Xy-9' AS VARCHAR(5)))
mask_hash('')
nullif(map('a', 1, 'b', 2), map('b', 2, 'a', 1))
nullif(map('a', 1), map('a', 3))
nullif(map('a', 1), map('b', 1))
nullif(map('a', cast(NULL AS INT)), map('a', cast(NULL AS INT)))
nullif(array(1), array(1))
nullif(array(1, 2), array(1, 3))
nullif(struct(1, 2), struct(1, 2))
nullif(array(map('a', 1)), array(map('a', 1)))
array_join(array(array('a', 'b'), NULL, array('c', NULL)), ',', ':')
array_join(array(array('a', 'b'), NULL, array('c', NULL)), ',')
array_join(array(array(1, 2), array(3)), ';')
array_join(array(array(1.5D)), ';')
array_join(array(array(true, false)), ';')
array_join(array(array(DATE '2020-01-02')), ';')
array_join(array(array(array(1), array(2, 3))), ';')
array_join(array(map('a', 1, 'b', 2)), ',')
array_join(array(struct(1, 'x')), ',')
array_join(array(true, false), '-')
array_join(array(DATE '2020-01-02'), '-')
array_join(array(TIMESTAMP '2020-01-02 03:04:05.6'), '-')
array_join(array(1.5D, 1E10D), '-')
from_utc_timestamp('2012-02-11 04:30:00', '')
from_utc_timestamp('2012-02-11 04:30:00', '---')
from_utc_timestamp('2012-02-11 04:30:00', 'nozone')
from_utc_timestamp('2012-02-11 04:30:00', 'GMT+25')
from_utc_timestamp('2012-02-11 04:30:00', '+8')
from_utc_timestamp('2012-02-11 04:30:00', '+08:00')
from_utc_timestamp('2012-02-11 04:30:00', 'UTC+8')
from_utc_timestamp('2012-02-11 04:30:00', 'UTC+08:00')
from_utc_timestamp('2012-02-11 04:30:00', 'GMT+08:30')
from_utc_timestamp('2012-02-11 04:30:00', 'GMT-0830')
from_utc_timestamp('2012-02-11 04:30:00', 'utc')
from_utc_timestamp('2012-02-11 04:30:00', ' UTC ')
from_utc_timestamp('2012-02-11 04:30:00', 'europe/moscow')
from_utc_timestamp('2012-02-11 04:30:00', 'Z')
from_utc_timestamp('2012-02-11 04:30:00', 'EST')
from_utc_timestamp('2012-02-11 04:30:00', 'PST')
from_utc_timestamp('2012-02-11 04:30:00', 'CST')
from_utc_timestamp('2012-02-11 04:30:00', 'PST8PDT')
to_utc_timestamp('2012-02-11 04:30:00', '')
to_utc_timestamp('2012-02-11 04:30:00', 'nozone')
to_utc_timestamp('2012-02-11 04:30:00', '+08:00')
to_utc_timestamp('2012-02-11 04:30:00', 'PST')
substr(NULL, 1)
substr(NULL, 1, 1)
substr('ABC', NULL)
substr('ABC', NULL, 1)
substr('ABC', 1, NULL)
reflect('java.lang.String', 'isEmpty')
reflect('java.lang.String', 'bogus', 1)
reflect('java.lang.Nothing', 'bogus', 1)
reflect('java.lang.Math', 'max', 2, 3)
reflect('java.lang.Math', 'round', 2.5D)
reflect('java.lang.Integer', 'parseInt', 'x')
get_json_object('{"a":1, "b" : [1, 2]}', '$')
get_json_object('[1, 2]', '$')
get_json_object('x', '$')
get_json_object('{"a":1.0,"c":1e3, "z":null}', '$')
get_json_object('"x"', '$')
get_json_object('1', '$')
cast('2016-01-03Europe/London' AS TIMESTAMP WITH LOCAL TIME ZONE)
cast('2016-01-03 Europe/London' AS TIMESTAMP WITH LOCAL TIME ZONE)
cast('2016-01-03 13:34:56.38 +1:00' AS TIMESTAMP WITH LOCAL TIME ZONE)
cast('2016-01-03 12:26:34America/Los_Angeles' AS TIMESTAMP WITH LOCAL TIME ZONE)
cast('2016-01-03+01:00' AS TIMESTAMP WITH LOCAL TIME ZONE)
cast('2016-01-03 12:26:34Z' AS TIMESTAMP WITH LOCAL TIME ZONE)
cast('2016-01-03 12:26:34.123456 UTC' AS TIMESTAMP WITH LOCAL TIME ZONE)
cast(' 2016-01-03 12:26:34 UTC ' AS TIMESTAMP WITH LOCAL TIME ZONE)
cast('2016-01-03 12:26:34.5+01:00' AS TIMESTAMP WITH LOCAL TIME ZONE)
json_read('{"a":1}', 'struct<a:int>')
json_read('[{"a":{"b":"x"},"c":[1,2]},{"a":null}]', 'array<struct<a:struct<b:string>,c:array<int>>>')
json_read('[ { "x": "y", "b": { "c": { "d": "e" } } } ]', 'array<struct<x:string,b:struct<c:struct<d:string>>>>')
json_read('{"a":"x"}', 'map<string,string>')
json_read('[1,2]', 'array<int>')
datetime_legacy_hybrid_calendar(DATE '0601-03-07')
datetime_legacy_hybrid_calendar(TIMESTAMP '0501-03-07 17:03:00.4321')
datetime_legacy_hybrid_calendar(TIMESTAMP '1600-03-07 17:03:00.4321')
datetime_legacy_hybrid_calendar(DATE '1582-10-10')
datetime_legacy_hybrid_calendar(DATE '1582-10-15')
datetime_legacy_hybrid_calendar(DATE '0001-01-01')
datetime_legacy_hybrid_calendar(DATE '1500-03-01')
version()
buildversion()
cast(mask(DATE '2016-04-20') AS STRING)
cast(mask_show_last_n(DATE '2016-04-20', 4) AS STRING)
-- masks beside their bounds, CHAR and BINARY inside of lists
array_join(array(struct(array(1, 2), map('a', array('x', NULL)), struct(cast(NULL AS STRING), 'y'))), ';')
array_join(array(map('a', struct(array(1), 'z'))), ';')
array_join(array(array(1.5D, 1E10D)), ';')
array_join(array(array(cast('ab' AS CHAR(4)))), ';')
array_join(array(array(cast('ab' AS BINARY))), ';')
array_join(array(array(TIMESTAMP '2020-01-02 03:04:05')), ';')
array_join(array(cast('ab' AS CHAR(4))), ';')
nullif(map('a', array(1, 2)), map('a', array(1, 2)))
nullif(map('a', struct(1)), map('a', struct(2)))
nullif(map(1, 'a'), map(1, 'a'))
nullif(map('a', 1), NULL)
mask(cast(NULL AS INT))
mask(cast(NULL AS DATE))
mask_first_n(cast(NULL AS BIGINT), 2)
mask_show_last_n('Ab-1234567', -1)
mask_show_last_n(1234567, -1)
mask_first_n(1234567, -2)
mask_last_n(cast('aB1' AS CHAR(8)))
mask_show_first_n(cast('aB1' AS CHAR(8)), 2)
mask(cast('aB1' AS CHAR(5)), 'X', 'x', '0', ':')
mask(-9223372036854775808)
mask(DATE '2016-02-29', -1, -1, -1, -1, -1, 31, 1, -1)
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, 0, -1, -1)
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, 7, 12, -1)
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, 7)
mask('AbÄä-12٣', 'Q', 'q', '9', '_')
mask_show_first_n('Ab')
mask_last_n('Ab', 0)
mask_hash(cast('' AS CHAR(3)))
mask_hash(cast(NULL AS STRING))
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, -1, -1, 10000)
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, -1, -1, -5)
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, 32, -2, -1)
mask(DATE '2016-04-20', -1, -1, -1, -1, -1, 'x', -1, -1)
mask(12345, 'x', 'x', 'x', 'x', 12)
mask(12345, 'x', 'x', 'x', 'x', -5)
mask(12345, 'x', 'x', 'x', 'x', '')
mask_first_n('AbÄä-12', 'x')
mask_first_n('AbÄä-12', '3')
mask_first_n(12345, '3')
java_method('java.lang.Integer', 'parseInt', 'x')
reflect('java.lang.Integer', 'valueOf', '7')
date_format('2020-12-31', 'YYYY-MM-dd')
date_format('2020-12-26', 'YYYY w')
date_format('2020-12-27', 'YYYY w ww W')
date_format('2021-01-01', 'YY w W')
date_format('2021-01-03', 'YYYYY w W F')
date_format('2021-02-28', 'w W e c E F')
date_format('0999-12-31', 'YYYY')
date_format('1582-10-16', 'YYYY-w')
date_format('2021-01-03', 'eee')
date_format('2021-01-03', 'eeee')
date_format('2021-01-03', 'YYY')
date_format('2021-01-03', "'Y' YY 'w' w")
from_unixtime(1609372800, 'YYYY w W')
json_read('{"Name":"x","aB":{"C d":1}}', 'struct<name:string,ab:struct<c d:int>>')
json_read('{"A":"1.5","b":true,"c":"x","d":"2020-01-02","e":"1.50","f":3}', 'struct<a:int,b:int,c:int,d:date,e:decimal(5,2),f:boolean>')
json_read('{"A":"1","a":"2"}', 'struct<a:string>')
json_read('{"m":{"K":{"V":"x"}}}', 'struct<m:map<string,struct<v:string>>>')
json_read(null, 'struct<a:string>')
json_read('[1, null, "3"]', 'array<int>')
soundex('  Miller')
soundex('12Rupert')
soundex('a€b')
soundex('Tymćzak')
soundex('-')
ascii('é')
ascii('€')
ascii(' ')
replace('abc', '', 'x')
replace('', '', 'x')
replace('', 'a', 'x')
replace('abc', NULL, 'x')
replace('a$b', substr('', 1), '$1')
replace(12, 1, 3)
concat_ws('-', 'x', array(), 'y')
concat_ws('-', array(), 'y')
concat_ws('-', 'x', array(), array(), 'y')
concat_ws('-', array())
concat_ws('-', if(1 = 1, NULL, array('a')), 'q')
concat_ws(if(1 = 1, NULL, '-'), array('a'), 'b')
str_to_map(cast(NULL AS STRING))
size(str_to_map(cast(NULL AS STRING)))
str_to_map('a:1', cast(NULL AS STRING), ':')
get_json_object('{"a":[{"b":1},{"b":2}]}', '$.a.b')
get_json_object('{"a":[{"c":1},{"b":2}]}', '$.a.b')
get_json_object('{"a":[[{"b":1}],[{"b":2}]]}', '$.a.b')
get_json_object('{"a":[{"b":[1,2]},{"b":[3]}]}', '$.a.b')
get_json_object('{"a":[{"b":[1,2]},{"b":[3]}]}', '$.a.b[0]')
get_json_object('{"a":[{"b":[1,2]},{"b":[3]}]}', '$.a[*].b')
get_json_object('{"a":[{"b":{"c":5}},{"b":{"c":6}}]}', '$.a.b.c')
get_json_object('{"a":{"b":null}}', '$.a.b')
get_json_object('{"a":{"b":[[1,2],[3]]}}', '$.a.b[*][0]')
get_json_object('{"d":{"z":1,  "y" : [1, 2 ], "x":"a/b"}}', '$.d')
get_json_object('{"e":12345678901234567890123}', '$.e')
get_json_object('{"a":"x"} trailing', '$.a')
get_json_object("{'a':{'b':1}}", '$.a.b')
get_json_object('{"a":{"*":1,"b":2}}', '$.a.*')
typeof(concat(cast('a' AS VARCHAR(3)), cast('b' AS VARCHAR(8))))
typeof(concat(cast('a' AS CHAR(3)), cast('b' AS CHAR(8))))
typeof(concat(cast('a' AS CHAR(200)), cast('b' AS CHAR(200))))
typeof(concat(cast('a' AS VARCHAR(3)), NULL))
concat(cast('a' AS CHAR(3)), cast('b' AS CHAR(8)))
cast('a' AS CHAR(3)) || cast('b' AS VARCHAR(8)) || cast('c' AS CHAR(2))
if(1 = 1, cast('a' AS CHAR(3)), cast('b' AS CHAR(8)))
if(1 = 1, cast('a' AS CHAR(3)), cast('b' AS VARCHAR(8)))
nvl(cast('a' AS VARCHAR(3)), cast('b' AS VARCHAR(8)))
CASE WHEN 1 = 2 THEN cast('a' AS CHAR(3)) ELSE cast('b' AS CHAR(8)) END
greatest(cast('a' AS VARCHAR(3)), cast('b' AS VARCHAR(8)))
upper(cast('a' AS CHAR(3))) = 'A '
cast('a' AS CHAR(3)) BETWEEN 'a ' AND 'a '
soundex('Rupertsć')
soundex('Straße')
round(cast('99999999999999999999999999999999999999' AS DECIMAL(38,0)), -1)
round(cast('-94999999999999999999999999999999999999' AS DECIMAL(38,0)), -37)
round(cast('-95000000000000000000000000000000000000' AS DECIMAL(38,0)), -37)
bround(cast('95000000000000000000000000000000000000' AS DECIMAL(38,0)), -37)
bround(cast('50000000000000000000000000000000000000' AS DECIMAL(38,0)), -38)
bround(cast('-50000000000000000000000000000000000001' AS DECIMAL(38,0)), -38)
round(cast('50000000000000000000000000000000000000' AS DECIMAL(38,0)), -38)
round(cast('99999999999999999999999999999999999999' AS DECIMAL(38,0)), -39)
round(cast('9999999999999999999999999999999999999.9' AS DECIMAL(38,1)), 0)

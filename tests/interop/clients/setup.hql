create database doors comment 'the doors';
use doors;
create table t_all (c_b boolean comment 'b', c_t tinyint, c_s smallint, c_i int comment 'naïve 数', c_l bigint, c_f float, c_d double,
  c_dec decimal(10,2), c_dec0 decimal, c_str string, c_c char(5), c_v varchar(7), c_date date, c_ts timestamp,
  c_tz timestamp with local time zone, c_bin binary, c_a array<int>, c_m map<string,decimal(5,1)>, c_st struct<a:int,b:array<string>>,
  c_u uniontype<int,string>) comment 'every type' stored as orc tblproperties ('transactional'='true');
create table t_io (i int, s string) stored as orc tblproperties ('transactional'='true', 'transactional_properties'='insert_only');
create external table t_ext (i int comment 'number', s string) comment 'outside' stored as textfile;
create table t_ro (i int, s string) partitioned by (p string comment 'day', q int) clustered by (i) into 2 buckets stored as orc
  tblproperties ('transactional'='true');
create table `t quo` (`a b` int, `select` int) stored as orc tblproperties ('transactional'='true');
create temporary table tmp (x int, y string) stored as orc;
create view v as select c_i, c_c, c_dec from t_all;
create view vc (one comment 'first', two) comment 'a view' as select c_i, c_str from t_all;
create table pk (a int, b string, n int not null disable, u int default 5, constraint k primary key (a, b) disable novalidate,
  constraint uq unique (u) disable novalidate) stored as orc tblproperties ('transactional'='true');
create table fk (x int, y string, constraint r foreign key (x, y) references pk (a, b) disable novalidate,
  constraint ck check (x > 0) disable novalidate) stored as orc tblproperties ('transactional'='true');
create materialized view mv stored as orc as select i, s from t_io;
create table t_two (c_b boolean, c_t tinyint, c_s smallint, c_i int, c_l bigint, c_f float, c_d double, c_dec decimal(10,2),
  c_dec0 decimal, c_str string, c_c char(5), c_v varchar(7), c_date date, c_ts timestamp,
  c_bin binary, c_a array<int>, c_m map<string,decimal(2,1)>, c_st struct<a:int,b:array<string>>) stored as orc
  tblproperties ('transactional'='true');
insert into t_ro partition (p='a', q=1) values (1, 'x'), (2, 'y');
insert into t_two select true, 1, 2, 3, 4, 1.5, 2.5, 3.25, 7, 's', 'c', 'v', date'2020-01-02', timestamp'2020-01-02 03:04:05.6',
  cast('bin' as binary), array(1, 2),
  map('k', 1.5), named_struct('a', 1, 'b', array('z'));
insert into t_two (c_b) values (null);
create view lines as select i,
  s
from t_ro;
create table t_lines (i int comment 'a
b') stored as orc tblproperties ('transactional'='true', 'k'='x
y');

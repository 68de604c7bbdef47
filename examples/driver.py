"""The DB-API 2.0 driver: parameters, transactions, rows as tuples and as Arrow."""

from __future__ import annotations

from decimal import Decimal

from hivesql import dbapi

with dbapi.connect("sqlite:///metastore.db", "warehouse") as connection:
    cursor = connection.cursor()
    cursor.execute("DROP TABLE IF EXISTS accounts")
    cursor.execute(
        "CREATE TRANSACTIONAL TABLE accounts (name STRING, balance DECIMAL(10,2)) STORED AS ORC"
    )

    opening = [["ann", Decimal("100.00")], ["bob", Decimal("20.00")]]
    cursor.execute("INSERT INTO accounts VALUES (%s, %s), (%s, %s)", opening[0] + opening[1])
    connection.commit()

    move = "UPDATE accounts SET balance = balance + %(amount)s WHERE name = %(who)s"
    for amount in (Decimal("30.00"), Decimal("500.00")):
        cursor.execute(move, {"amount": -amount, "who": "ann"})
        cursor.execute(move, {"amount": amount, "who": "bob"})
        cursor.execute("SELECT min(balance) FROM accounts")
        lowest = cursor.fetchone()
        if lowest is not None and lowest[0] < 0:
            print("rolled back", amount)
            connection.rollback()
        else:
            connection.commit()

    cursor.execute("SELECT name, balance FROM accounts ORDER BY name")
    print(cursor.fetchall())
    print(cursor.fetch_arrow_table().schema)
    try:
        cursor.execute("SELECT nothing FROM accounts")
    except dbapi.ProgrammingError as error:
        print("refused:", error.code, "retry:", error.retryable)

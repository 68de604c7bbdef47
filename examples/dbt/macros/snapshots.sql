{# dbt-hive's own snapshots want tables of Delta. These are dbt's, of ACID tables. #}

{% materialization snapshot, adapter='hive' %}
  {% do model.update({'database': none}) %}
  {{ return(dbt.materialization_snapshot_default()) }}
{% endmaterialization %}

{# A view, not a temporary table: dbt asks by its database's name which columns it has. #}
{% macro build_snapshot_staging_table(strategy, sql, target_relation) %}
  {% set staging = target_relation.incorporate(
       path={'identifier': target_relation.identifier ~ '__dbt_tmp'}, type='view') %}
  {% call statement('build_snapshot_staging_relation') %}
    {{ create_view_as(staging, snapshot_staging_table(strategy, sql, target_relation)) }}
  {% endcall %}
  {{ return(staging) }}
{% endmacro %}

{% macro hive__snapshot_merge_sql(target, source, insert_cols) %}
  merge into {{ target }} as history
  using {{ source }} as changes
  on changes.dbt_scd_id = history.dbt_scd_id
  when matched and history.dbt_valid_to is null
      and changes.dbt_change_type in ('update', 'delete')
    then update set dbt_valid_to = changes.dbt_valid_to
  when not matched and changes.dbt_change_type = 'insert'
    then insert ({{ insert_cols | join(', ') }})
      values (changes.{{ insert_cols | join(', changes.') }})
{% endmacro %}

{% macro hive__snapshot_string_as_time(timestamp) %}
  {{ return("cast('" ~ timestamp ~ "' as timestamp)") }}
{% endmacro %}

{# Hive calls columns of a query query.column; dbt takes such a name for one that is new. #}
{% macro hive__get_columns_in_query(select_sql) %}
  {% call statement('get_columns_in_query', fetch_result=True, auto_begin=False) %}
    {{ get_empty_subquery_sql(select_sql) }}
  {% endcall %}
  {% set names = [] %}
  {% for column in load_result('get_columns_in_query').table.columns %}
    {% do names.append(column.name.split('.')[-1]) %}
  {% endfor %}
  {{ return(names) }}
{% endmacro %}

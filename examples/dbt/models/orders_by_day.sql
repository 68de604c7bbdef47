{{ config(materialized='incremental', incremental_strategy='insert_overwrite',
          partition_by=['ordered_on']) }}
select order_id, amount, ordered_on from {{ ref('orders') }}

{{ config(materialized='incremental', incremental_strategy='merge', unique_key='order_id') }}
select order_id, customer, amount, is_paid from {{ ref('orders') }}

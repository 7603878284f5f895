{# Passes where every row is one of at least k that look alike, and every class has at least l sensitive values.
   Failures are sizes of classes, and never values; a table without rows fails. #}
{% test k_anonymous(model, quasi_identifiers, k, sensitive=[], l=1) %}
select count(*) as rows_in_class
from {{ model }}
group by {{ quasi_identifiers | join(', ') }}
having count(*) < {{ k }}
{%- for column in sensitive %}
  or count(distinct {{ column }}) + max(case when {{ column }} is null then 1 else 0 end) < {{ l }}
{%- endfor %}
union all
select count(*) from {{ model }} having count(*) = 0
{% endtest %}

//! The schools of a country in one database: every statement reads only the rows that it needs.

mod index_use;
mod page_cost;
mod plan_rules;
mod query_plan;
mod seeder;

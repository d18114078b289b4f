//! A country's schools in one database: every statement keeps to what it is asked for.

mod plan;
mod plans;
mod seeder;

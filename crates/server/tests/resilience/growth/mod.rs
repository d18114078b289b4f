//! The schools of a country in one database: every statement reads only the rows that it needs.

mod pages;
mod plan;
mod plans;
mod rules;
mod seeder;

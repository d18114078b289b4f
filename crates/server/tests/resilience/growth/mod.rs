//! A country's schools in one database: every statement keeps to what it is asked for.

mod pages;
mod plan;
mod plans;
mod rules;
mod seeder;

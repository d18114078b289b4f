//! The figures as Markdown: medians over the rounds, ratios taken within each round.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

use crate::finishing::Finish;
use crate::measurement::{CONNECTIONS, Report, Sample, Target};
use crate::queries::PAGE;
use crate::seed::{DOCUMENTS, GROUPS, MEMBERS, OTHER_CLASSES};
use crate::{downloads, finishing, imports};

/// Between these two lines of a file the figures stand.
const MARKS: [&str; 2] = ["<!-- bench -->", "<!-- /bench -->"];

/// Prints the figures, and puts them into the file if there is one.
pub fn publish(report: &Report, file: Option<&Path>) -> anyhow::Result<()> {
    let text = report.markdown();
    write!(std::io::stdout(), "{text}")?;
    let Some(file) = file else { return Ok(()) };
    let old = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let new = replaced(&old, &text).with_context(|| format!("{} has no lines {MARKS:?}", file.display()))?;
    std::fs::write(file, new)?;
    Ok(())
}

fn replaced(old: &str, text: &str) -> Option<String> {
    let [begin, end] = MARKS;
    let (before, rest) = old.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim()))
}

impl Report {
    fn markdown(&self) -> String {
        let [session, groups, log_page, document] = self.sizes;
        let pairs = [
            (
                format!("session check ({session} B)"),
                Target::Session,
                Target::SessionFromMemory,
            ),
            (
                format!("group list of a class ({} KB)", groups / 1000),
                Target::Groups,
                Target::GroupsFromMemory,
            ),
            (
                format!("page of the log, {PAGE} records ({} KB)", log_page / 1000),
                Target::LogPage,
                Target::LogPageFromMemory,
            ),
            (
                format!("chat message, {CONNECTIONS} at once"),
                Target::Talk,
                Target::RawTalk,
            ),
            (
                format!("document save, one after the other ({} KB)", document / 1000),
                Target::Save,
                Target::RawSave,
            ),
            (
                format!("document save, {DOCUMENTS} at once"),
                Target::Saves,
                Target::RawSaves,
            ),
        ];
        let mut text = String::from(
            "| what | requests/s | limit/s | rate, share of the limit | CPU µs | limit's CPU µs | CPU above the limit, µs |\n\
             |---|--:|--:|--:|--:|--:|--:|\n",
        );
        for (name, target, limit) in pairs {
            let rate = self.over_rounds(|of| of(target).rate);
            let limit_rate = self.over_rounds(|of| of(limit).rate);
            let share = self.over_rounds(|of| of(target).rate / of(limit).rate);
            let cpu = self.over_rounds(|of| of(target).cpu);
            let limit_cpu = self.over_rounds(|of| of(limit).cpu);
            let above = self.over_rounds(|of| of(target).cpu - of(limit).cpu);
            let _infallible = writeln!(
                text,
                "| {name} | {:.0} | {:.0} | **{:.2}** ({:.2}–{:.2}) | {:.0} | {:.0} | **{:.0}** ({:.0}–{:.0}) |",
                rate.median,
                limit_rate.median,
                share.median,
                share.least,
                share.most,
                cpu.median,
                limit_cpu.median,
                above.median,
                above.least,
                above.most,
            );
        }
        text.push_str(&self.beside_loops());
        text.push_str(&self.beside_many());
        let spread = |figure: fn(&imports::Round) -> f64| Spread::of(self.imports.iter().map(figure).collect());
        let (service, raw) = (spread(|round| round.service), spread(|round| round.raw));
        let share = spread(|round| round.service / round.raw);
        let _infallible = writeln!(
            text,
            "\nImporting {} people from a table: {:.0} rows/s, the bare inserts of the same rows {:.0}/s; share **{:.2}** \
             ({:.2}–{:.2}).",
            imports::ROWS,
            service.median,
            raw.median,
            share.median,
            share.least,
            share.most,
        );
        text.push_str(&self.beside_nginx());
        text.push_str(&self.growing());
        let _infallible = writeln!(
            text,
            "\nMedians of {} rounds of {:.1} s for each target, in rotating order (least–most in brackets); ratios are taken \
             within a round. Reads: {CONNECTIONS} keep-alive connections. The limit of a read is the same process \
             answering the same bytes from memory; the limit of a save is the same process writing the same bytes with \
             write, fsync, rename, fsync of the folder and one SQLite commit; the limit of a message is one row with a \
             commit of its own. The class has {GROUPS} groups of {MEMBERS}, \
             a course and two topics, one with own texts; {OTHER_CLASSES} other classes ({} rows) lie beside it, and {} records are in the log. Requests \
             are logged, sessions are checked, SQLite runs with synchronous=FULL.\n\n\
             Machine: {}. Load average {} before, {} after; the run took {:.0} s.",
            self.rounds.len(),
            self.sample.as_secs_f64(),
            self.rows[0],
            self.rows[1],
            self.conditions.join("; "),
            self.load[0],
            self.load[1],
            self.time.as_secs_f64(),
        );
        text
    }

    /// The service beside its own statements without anything around them, by CPU.
    fn beside_loops(&self) -> String {
        let mut text = String::from(
            "\n| beside the raw loop of its statements | CPU µs | loop's CPU µs | times the loop | goal |\n|---|--:|--:|--:|--:|\n",
        );
        for (name, target, raw, goal) in [
            ("group list of a class", Target::Groups, Target::GroupsInLoop, "1.5"),
            ("page of the log", Target::LogPage, Target::LogPageInLoop, "1.7"),
        ] {
            let cpu = self.over_rounds(|of| of(target).cpu);
            let raw_cpu = self.over_rounds(|of| of(raw).cpu);
            let times = self.over_rounds(|of| of(target).cpu / of(raw).cpu);
            let _infallible = writeln!(
                text,
                "| {name} | {:.0} | {:.0} | **{:.2}** ({:.2}–{:.2}) | ≤ {goal} |",
                cpu.median, raw_cpu.median, times.median, times.least, times.most,
            );
        }
        text
    }

    /// The same answers where there is much more beside them.
    fn beside_many(&self) -> String {
        if self.many < 2 {
            return String::new();
        }
        let mut text = format!(
            "\n| with {} times the rows | requests/s, times the usual | CPU, times the usual | goal |\n|---|--:|--:|--:|\n",
            self.many
        );
        for (name, usual, many) in [
            ("group list of a class", Target::Groups, Target::GroupsOfMany),
            ("page of the log", Target::LogPage, Target::LogPageOfMany),
        ] {
            let rate = self.over_rounds(|of| of(many).rate / of(usual).rate);
            let cpu = self.over_rounds(|of| of(many).cpu / of(usual).cpu);
            let _infallible = writeln!(
                text,
                "| {name} | **{:.2}** ({:.2}–{:.2}) | **{:.2}** ({:.2}–{:.2}) | CPU ≤ 1.1 |",
                rate.median, rate.least, rate.most, cpu.median, cpu.least, cpu.most,
            );
        }
        text
    }

    /// A download beside nginx.
    fn beside_nginx(&self) -> String {
        if self.downloads.is_empty() {
            return "\nDownloads were not measured: there was no nginx.\n".to_owned();
        }
        let spread = |figure: fn(&downloads::Round) -> f64| Spread::of(self.downloads.iter().map(figure).collect());
        let (service, nginx) = (spread(|round| round.service.rate), spread(|round| round.nginx.rate));
        let share = spread(|round| round.service.rate / round.nginx.rate);
        let cpu = spread(|round| round.service.cpu / round.nginx.cpu.max(1.0));
        format!(
            "\nDownloading a document of {} MB, 4 connections: {:.0} a second, nginx with the same file {:.0}; share **{:.2}** \
             ({:.2}–{:.2}), CPU **{:.1}** times ({:.1}–{:.1}). The service hashes what it sends.\n",
            downloads::SIZE / 1_000_000,
            service.median,
            nginx.median,
            share.median,
            share.least,
            share.most,
            cpu.median,
            cpu.least,
            cpu.most,
        )
    }

    /// Finishing topics with more and more documents.
    fn growing(&self) -> String {
        let mut text = String::from(
            "\n| finishing a topic of 10 groups | ms | CPU ms | a document, times that of the smallest | goal |\n\
             |---|--:|--:|--:|--:|\n",
        );
        for (column, documents) in finishing::DOCUMENTS.into_iter().enumerate() {
            let spread = |figure: &dyn Fn(&[Finish]) -> f64| {
                Spread::of(self.finishes.iter().map(|round| figure(round)).collect())
            };
            let each = |round: &[Finish], column: usize| {
                let documents = u32::try_from(finishing::DOCUMENTS[column]).unwrap_or(u32::MAX);
                round[column].time.as_secs_f64() / f64::from(documents)
            };
            let time = spread(&|round| round[column].time.as_secs_f64() * 1e3);
            let cpu = spread(&|round| round[column].cpu.as_secs_f64() * 1e3);
            let grown = spread(&|round| each(round, column) / each(round, 0));
            let _infallible = writeln!(
                text,
                "| {documents} documents | {:.0} | {:.0} | **{:.2}** ({:.2}–{:.2}) | ≤ 1 |",
                time.median, cpu.median, grown.median, grown.least, grown.most,
            );
        }
        text
    }

    fn over_rounds(&self, figure: impl Fn(&dyn Fn(Target) -> Sample) -> f64) -> Spread {
        let figures = self.rounds.iter().map(|samples| {
            figure(&|target| {
                let found = samples.iter().find(|sample| sample.target == target);
                *found.expect("every round has every target")
            })
        });
        Spread::of(figures.collect())
    }
}

struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    fn of(mut figures: Vec<f64>) -> Self {
        figures.sort_by(f64::total_cmp);
        let (last, middle) = (figures.len() - 1, figures.len() / 2);
        Self {
            least: figures[0],
            median: if figures.len().is_multiple_of(2) {
                f64::midpoint(figures[middle - 1], figures[middle])
            } else {
                figures[middle]
            },
            most: figures[last],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let old = format!("a\n{}\nold\n{}\nb\n", MARKS[0], MARKS[1]);
        let new = format!("a\n{}\n\nnew\n\n{}\nb\n", MARKS[0], MARKS[1]);
        assert_eq!(replaced(&old, "new\n").as_deref(), Some(new.as_str()));
        assert_eq!(replaced("no marks", "new"), None);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the figures are copied, not computed")]
    fn the_median_is_the_middle_one_or_between_the_two() {
        assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(Spread::of(vec![4.0, 1.0, 3.0, 2.0]).median, 2.5);
    }
}

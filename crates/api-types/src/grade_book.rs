//! The grade book of a class, as JSON and as a CSV table with one row for each student. Intended for staff, it contains
//! drafts.

use api_macros::view;
use domain::from_fields;
use std::collections::BTreeMap;

use domain::assignment::AssignmentStatus;
use domain::grade::GradeStatus;
use domain::grade_book::{GradeBook, GradeBookCell, GradeBookTopic, GradeMean, TableLanguage};
use domain::group::GroupLabel;
use domain::group_assignment::GroupAssignmentStatus;
use domain::id::{AssignmentId, CourseId, GroupAssignmentId, UserId};
use domain::number::Points;
use domain::text::{GradeScale, GradeValue, Title};
use domain::time::Timestamp;
use domain::user::{Person, split_name};

use super::csv;

/// The grade book of a class or of one of its courses.
#[view]
pub struct GradeBookView {
    /// The topics by deadline.
    topics: Vec<GradeBookTopicView>,
    /// The students of the class, by surname.
    students: Vec<GradeBookStudentView>,
}

/// A topic of a grade book.
#[view]
pub struct GradeBookTopicView {
    id: AssignmentId,
    title: Title,
    deadline: Timestamp,
    status: AssignmentStatus,
    course_id: Option<CourseId>,
    max_points: Option<Points>,
    grade_scale: Option<GradeScale>,
    /// Of all grades, drafts included.
    mean: GradeMeanView,
}

/// A student of a grade book.
#[view]
pub struct GradeBookStudentView {
    user_id: UserId,
    /// The display name without the last name; may be empty.
    first_name: String,
    last_name: String,
    image: Option<String>,
    /// One entry for each topic on which the student has work, in the order of the topics.
    cells: Vec<GradeBookCellView>,
    /// Of the published grades.
    mean: GradeMeanView,
}

/// The work of one student on one topic.
#[view]
pub struct GradeBookCellView {
    assignment_id: AssignmentId,
    group_assignment_id: GroupAssignmentId,
    /// The group that submitted with the student, otherwise the student's present group.
    group: GroupLabel,
    status: GroupAssignmentStatus,
    /// Whether the current submission was late.
    late: bool,
    /// Whether the deadline of the group has passed without a submission.
    missing: bool,
    grade: Option<EffectiveGradeView>,
}

/// The grade that counts for one student.
#[view]
pub struct EffectiveGradeView {
    value: Option<GradeValue>,
    points: Option<Points>,
    status: GradeStatus,
    /// Whether it is the student's own grade instead of the grade of the group.
    individual: bool,
}

/// Means of the grades of a student or of a topic; each grade counts equally.
#[view(Copy)]
pub struct GradeMeanView {
    /// Mean of the values that are numbers; a plus or minus after the number is ignored.
    value: Option<f64>,
    /// Mean of the points in percent of the maximum.
    percent: Option<f64>,
    /// Number of grades, including those without a number.
    graded: usize,
}

impl GradeBookView {
    /// Returns the grade book; `people` are its students in the order of the rows, `last_names` the recorded last names.
    pub fn new(book: GradeBook, people: Vec<Person>, last_names: &BTreeMap<UserId, String>) -> Self {
        let topics = book.topics.into_iter().zip(book.topic_means);
        let rows = book.rows.into_iter().zip(people);
        Self {
            topics: topics.map(|(topic, mean)| topic_view(topic, mean)).collect(),
            students: rows
                .map(|(row, person)| {
                    let (first, last) = split_name(&person.name, last_names.get(&person.id).map(String::as_str));
                    GradeBookStudentView {
                        user_id: row.student,
                        first_name: first.to_owned(),
                        last_name: last.to_owned(),
                        image: person.image,
                        cells: row.cells.into_iter().map(GradeBookCellView::from).collect(),
                        mean: row.mean.into(),
                    }
                })
                .collect(),
        }
    }
}

fn topic_view(topic: GradeBookTopic, mean: GradeMean) -> GradeBookTopicView {
    from_fields!(topic => GradeBookTopicView {
        id, title, deadline, status, course_id, max_points, grade_scale,
        mean: mean.into(),
    })
}

view_from!(cell: GradeBookCell => GradeBookCellView {
    assignment_id, group, status,
    group_assignment_id: cell.link_id,
    late: cell.is_late,
    missing: cell.is_missing,
    grade: cell.grade.map(|grade| EffectiveGradeView {
        value: grade.content.value,
        points: grade.content.points,
        status: grade.status,
        individual: grade.is_individual,
    }),
});

impl From<GradeMean> for GradeMeanView {
    fn from(mean: GradeMean) -> Self {
        Self {
            value: mean.value.map(round),
            percent: mean.percent.map(round),
            graded: mean.graded,
        }
    }
}

/// Rounds to two decimals, as means are shown.
fn round(mean: f64) -> f64 {
    (mean * 100.0).round() / 100.0
}

/// The texts of a table in one language.
struct TableTexts {
    surname: &'static str,
    first_name: &'static str,
    points: &'static str,
    mean: &'static str,
    mean_percent: &'static str,
    missing: &'static str,
    draft: &'static str,
    decimal: char,
}

const ENGLISH: TableTexts = TableTexts {
    surname: "Surname",
    first_name: "First name",
    points: "points",
    mean: "Mean grade",
    mean_percent: "Mean in %",
    missing: "missing",
    draft: "draft",
    decimal: '.',
};

const GERMAN: TableTexts = TableTexts {
    surname: "Nachname",
    first_name: "Vorname",
    points: "Punkte",
    mean: "Notenschnitt",
    mean_percent: "Schnitt in %",
    missing: "fehlt",
    draft: "Entwurf",
    decimal: ',',
};

impl TableTexts {
    const fn of(language: TableLanguage) -> &'static Self {
        match language {
            TableLanguage::German => &GERMAN,
            TableLanguage::English => &ENGLISH,
        }
    }

    fn number(&self, number: f64) -> String {
        number.to_string().replace('.', &self.decimal.to_string())
    }

    /// Returns a cell: the grade, marked while it is a draft, or that the work is missing.
    fn cell(&self, cell: Option<&GradeBookCell>, text: impl Fn(&GradeBookCell) -> Option<String>) -> String {
        let Some(cell) = cell else { return String::new() };
        if cell.is_missing {
            return self.missing.to_owned();
        }
        let is_draft = cell
            .grade
            .as_ref()
            .is_some_and(|grade| grade.status == GradeStatus::Draft);
        match text(cell) {
            Some(text) if is_draft => format!("{text} ({})", self.draft),
            Some(text) => text,
            None => String::new(),
        }
    }
}

/// The columns of a topic in the table: values of the scale, points, or both.
struct TopicColumns<'a> {
    topic: &'a GradeBookTopic,
    has_values: bool,
    has_points: bool,
}

/// Returns the grade book as CSV with one row for each student, the surname first. `last_names` are the recorded last
/// names; `people` are the students in the order of the rows.
pub fn table(
    book: &GradeBook,
    people: &[Person],
    last_names: &BTreeMap<UserId, String>,
    language: TableLanguage,
    delimiter: char,
) -> String {
    let texts = TableTexts::of(language);
    let columns: Vec<_> = book.topics.iter().map(|topic| TopicColumns::new(topic, book)).collect();
    let mut header = vec![texts.surname.to_owned(), texts.first_name.to_owned()];
    for column in &columns {
        let title = column.topic.title.as_str();
        if column.has_values {
            header.push(title.to_owned());
        }
        if column.has_points {
            let max = column
                .topic
                .max_points
                .map(|max| format!(" / {}", texts.number(max.get())));
            header.push(format!("{title} ({}{})", texts.points, max.unwrap_or_default()));
        }
    }
    header.extend([texts.mean.to_owned(), texts.mean_percent.to_owned()]);
    let mut table = csv::format_row_with(delimiter, header);
    for (row, person) in book.rows.iter().zip(people) {
        let (first, last) = split_name(&person.name, last_names.get(&person.id).map(String::as_str));
        let mut cells = vec![last.to_owned(), first.to_owned()];
        for column in &columns {
            let cell = row.cells.iter().find(|cell| cell.assignment_id == column.topic.id);
            if column.has_values {
                cells.push(texts.cell(cell, |cell| {
                    Some(cell.grade.as_ref()?.content.value.as_ref()?.to_string())
                }));
            }
            if column.has_points {
                let points = |cell: &GradeBookCell| Some(texts.number(cell.grade.as_ref()?.content.points?.get()));
                cells.push(texts.cell(cell, points));
            }
        }
        let mean = GradeMeanView::from(row.mean);
        for mean in [mean.value, mean.percent] {
            cells.push(mean.map(|mean| texts.number(mean)).unwrap_or_default());
        }
        table.push_str(&csv::format_row_with(delimiter, cells));
    }
    table
}

impl<'a> TopicColumns<'a> {
    fn new(topic: &'a GradeBookTopic, book: &GradeBook) -> Self {
        let mut grades = (book.rows.iter())
            .flat_map(|row| &row.cells)
            .filter(|cell| cell.assignment_id == topic.id)
            .filter_map(|cell| Some(&cell.grade.as_ref()?.content));
        let has_points = topic.max_points.is_some() || grades.clone().any(|grade| grade.points.is_some());
        Self {
            topic,
            has_values: !has_points || topic.grade_scale.is_some() || grades.any(|grade| grade.value.is_some()),
            has_points,
        }
    }
}

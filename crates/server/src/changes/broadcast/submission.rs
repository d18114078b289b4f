//! Hand-ins and grades. A grade of a single member reaches that member and the staff alone.

use model::change::submission::SubmissionChange;
use model::grade::Publication;
use model::id::{DocumentId, UserId};
use model::news::{Event, Room};
use model::submission::Submission;
use model::whole::{WholeGroupAssignment, WholeSubmission};
use serde_json::{Value, json};

use super::telling::Telling;
use super::{document, feedback};
use crate::views::audience::Audience;
use crate::views::group_assignment::GroupAssignmentView;
use crate::views::submission::GradeView;

pub fn tell(change: &SubmissionChange, telling: &mut Telling<'_>) {
    match change {
        SubmissionChange::Submitted { link, document, .. } if document.document.is_freezing() => {
            document::frozen(&link.place, &document.document, telling);
        }
        SubmissionChange::Submitted {
            link,
            document,
            submission,
            superseded: _,
        }
        | SubmissionChange::Frozen {
            link,
            document,
            submission,
        } => {
            document::status(&link.place, &document.document, telling);
            attempt(
                Event::SubmissionCreated,
                link,
                &submission.submission,
                &copies(submission),
                telling,
            );
        }
        // The bytes of a hand-in were completed by a save that had been on its way; nothing anybody was told is different.
        SubmissionChange::Completed { link: _, submission: _ } => {}
        SubmissionChange::Unsubmitted {
            link,
            document,
            former,
            next,
            reason: _,
        } => {
            document::status(&link.place, &document.document, telling);
            let mut documents: Vec<_> = next.as_deref().map(copies).unwrap_or_default();
            documents.push(document.document.id.clone());
            attempt(Event::SubmissionWithdrawn, link, former, &documents, telling);
            if let Some(next) = next {
                attempt(Event::SubmissionCreated, link, &next.submission, &copies(next), telling);
            }
        }
        SubmissionChange::Returned {
            link,
            submission,
            documents,
            feedback,
        } => {
            for whole in documents {
                document::status(&link.place, &whole.document, telling);
            }
            let copies = copies(submission);
            attempt(
                Event::SubmissionReturned,
                link,
                &submission.submission,
                &copies,
                telling,
            );
            if let Some(feedback) = feedback {
                feedback::given(link, feedback, telling);
            }
        }
        SubmissionChange::Graded {
            link,
            submission,
            publication,
            members,
        } => match publication {
            Publication::Kept => {}
            Publication::Published | Publication::Withdrawn => graded(link, submission, members, telling),
        },
    }
}

fn copies(submission: &WholeSubmission) -> Vec<DocumentId> {
    submission
        .documents
        .iter()
        .filter_map(|copy| copy.document_id.clone())
        .collect()
}

fn attempt(
    event: Event,
    link: &WholeGroupAssignment,
    submission: &Submission,
    documents: &[DocumentId],
    telling: &mut Telling<'_>,
) {
    let brief = json!({
        "id": submission.id,
        "attempt": submission.attempt,
        "submittedAt": submission.submitted_at,
        "isLate": submission.lateness.is_late,
        "submittedById": submission.submitted_by_id,
        "documentIds": documents,
    });
    telling.tell_group(
        &link.place,
        event,
        |audience| json!({"submission": brief, "groupAssignment": GroupAssignmentView::new(link, audience)}),
    );
}

/// A grade is out, changed or was taken back; students then hear of none.
fn graded(link: &WholeGroupAssignment, submission: &WholeSubmission, members: &[UserId], telling: &mut Telling<'_>) {
    let rest = |audience: &Audience| -> Value {
        let grade = submission
            .grade
            .as_ref()
            .and_then(|grade| GradeView::new(grade, audience));
        json!({
            "groupAssignmentId": link.link.id,
            "submissionId": submission.submission.id,
            "grade": grade,
        })
    };
    let told = Telling::event(&link.place.class, Event::GradePublished);
    telling.tell_staff(&told, rest(&Audience::Staff));
    if !link.place.is_open(telling.now()) {
        return;
    }
    let grades = submission.grade.iter().flat_map(|grade| &grade.member_grades);
    let own: Vec<&UserId> = grades
        .map(|grade| &grade.user_id)
        .filter(|user| members.contains(user))
        .collect();
    let mut except = vec![Room::Staff(link.place.class.clone())];
    except.extend(own.iter().map(|user| Room::User((*user).clone())));
    let group = vec![Room::Group(link.place.group.id.clone())];
    telling.tell_except(&told, group, except, rest(&Audience::Group));
    for user in own {
        telling.tell(
            &told,
            vec![Room::User(user.clone())],
            rest(&Audience::Student(user.clone())),
        );
    }
}

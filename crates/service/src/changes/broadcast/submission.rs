//! Events of submissions and grades. A grade of one member is sent only to that member and staff.

use std::collections::BTreeSet;

use model::change::submission::SubmissionChange;
use model::grade::{GradeWritten, Publication};
use model::id::{DocumentId, UserId};
use model::news::{Event, Room};
use model::submission::Submission;
use model::whole::{WholeGroupAssignment, WholeSubmission};

use super::telling::Telling;
use super::{document, feedback};
use api_types::audience::Audience;
use api_types::event::{EventGrade, EventGroupAssignment, EventSubmission, GradeEvent, SubmissionEvent};

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
        // A pending save completed the bytes of a submission; nothing that clients received has changed.
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
            written,
            members,
        } => match written.publication {
            Publication::Kept => {
                let told = Telling::event(&link.place.class, Event::GradeDrafted);
                telling.tell_staff(&told, grade_event(link, submission, &Audience::Staff));
            }
            Publication::Withdrawn => {
                telling.tell_group(&link.place, Event::GradeWithdrawn, |audience| {
                    grade_event(link, submission, audience)
                });
            }
            Publication::Published => published(link, submission, written, members, telling),
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
    let rest = |_: &Audience| SubmissionEvent {
        submission: EventSubmission::new(submission, documents.to_vec()),
        group_assignment: EventGroupAssignment::from(link),
    };
    telling.tell_group(&link.place, event, rest);
}

/// A grade was published or changed. A member with an individual grade receives that one; a member whose grade did
/// not change receives nothing.
fn published(
    link: &WholeGroupAssignment,
    submission: &WholeSubmission,
    written: &GradeWritten,
    members: &[UserId],
    telling: &mut Telling<'_>,
) {
    let told = Telling::event(&link.place.class, Event::GradePublished);
    telling.tell_staff(&told, grade_event(link, submission, &Audience::Staff));
    if !link.place.is_open(telling.now()) {
        return;
    }
    let grades = submission.grade.iter().flat_map(|grade| &grade.member_grades);
    let graded = grades.map(|grade| &grade.user_id).chain(&written.members);
    let own: BTreeSet<&UserId> = graded.filter(|user| members.contains(user)).collect();
    if written.is_group {
        let mut except = vec![Room::Staff(link.place.class.clone())];
        except.extend(own.iter().map(|user| Room::User((*user).clone())));
        let group = vec![Room::Group(link.place.group.id.clone())];
        telling.tell_except(&told, group, except, grade_event(link, submission, &Audience::Group));
    }
    for user in own {
        if written.is_group || written.members.contains(user) {
            let rest = grade_event(link, submission, &Audience::Student(user.clone()));
            telling.tell(&told, vec![Room::User(user.clone())], rest);
        }
    }
}

fn grade_event(link: &WholeGroupAssignment, submission: &WholeSubmission, audience: &Audience) -> GradeEvent {
    let grade = submission.grade.as_ref();
    GradeEvent {
        group_id: link.link.group_id.clone(),
        assignment_id: link.link.assignment_id.clone(),
        group_assignment_id: link.link.id.clone(),
        submission_id: submission.submission.id.clone(),
        grade: grade.and_then(|grade| EventGrade::new(grade, audience)),
    }
}

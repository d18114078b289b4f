//! Events of submissions and grades. A grade of one member is sent only to that member and staff.

use std::collections::BTreeSet;

use domain::change::SubmissionChange;
use domain::details::{GroupAssignmentDetails, SubmissionDetails};
use domain::grade::{GradeStatus, GradeWritten, Publication};
use domain::id::{DocumentId, UserId};
use domain::realtime::{Event, Room};
use domain::submission::Submission;

use super::event_builder::EventBuilder;
use super::{document, feedback};
use api_types::audience::Audience;
use api_types::event::{EventGrade, EventGroupAssignment, EventSubmission, GradeEvent, SubmissionEvent};

pub fn emit(change: &SubmissionChange, builder: &mut EventBuilder<'_>) {
    match change {
        SubmissionChange::Submitted { link, document, .. } if document.document.is_freezing() => {
            document::emit_frozen(&link.group_context, &document.document, builder);
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
            document::emit_status(&link.group_context, &document.document, builder);
            emit_submission(
                Event::SubmissionCreated,
                link,
                &submission.submission,
                &copies(submission),
                builder,
            );
        }
        SubmissionChange::Recorded { link, submission } => {
            emit_submission(Event::SubmissionCreated, link, &submission.submission, &[], builder);
        }
        SubmissionChange::RecordRemoved { link, former } => {
            emit_submission(Event::SubmissionWithdrawn, link, former, &[], builder);
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
            document::emit_status(&link.group_context, &document.document, builder);
            let mut documents: Vec<_> = next.as_deref().map(copies).unwrap_or_default();
            documents.push(document.document.id.clone());
            emit_submission(Event::SubmissionWithdrawn, link, former, &documents, builder);
            if let Some(next) = next {
                emit_submission(Event::SubmissionCreated, link, &next.submission, &copies(next), builder);
            }
        }
        SubmissionChange::Returned {
            link,
            submission,
            documents,
            feedback,
        } => {
            for details in documents {
                document::emit_status(&link.group_context, &details.document, builder);
            }
            let copies = copies(submission);
            emit_submission(
                Event::SubmissionReturned,
                link,
                &submission.submission,
                &copies,
                builder,
            );
            if let Some(feedback) = feedback {
                feedback::emit_created(link, feedback, builder);
            }
        }
        SubmissionChange::GradeFileChanged {
            link,
            submission,
            file: _,
            members,
            is_added: _,
        } => emit_file_changed(link, submission, members, builder),
        SubmissionChange::Graded {
            link,
            submission,
            written,
            members,
        } => match written.publication {
            Publication::Kept => {
                let header = EventBuilder::event(&link.group_context.class, Event::GradeDrafted);
                builder.emit_to_staff(&header, grade_event(link, submission, &Audience::Staff));
            }
            Publication::Withdrawn => {
                builder.emit_to_group(&link.group_context, Event::GradeWithdrawn, |audience| {
                    grade_event(link, submission, audience)
                });
            }
            Publication::Published => emit_published(link, submission, written, members, builder),
        },
    }
}

/// A file was added to a grade or removed: the group is notified if it sees the grade.
fn emit_file_changed(
    link: &GroupAssignmentDetails,
    submission: &SubmissionDetails,
    members: &[UserId],
    builder: &mut EventBuilder<'_>,
) {
    let is_published = submission
        .grade
        .as_ref()
        .is_some_and(|grade| grade.status == GradeStatus::Published);
    if is_published {
        let written = GradeWritten {
            publication: Publication::Published,
            is_group: true,
            members: Vec::new(),
        };
        emit_published(link, submission, &written, members, builder);
    } else {
        let header = EventBuilder::event(&link.group_context.class, Event::GradeDrafted);
        builder.emit_to_staff(&header, grade_event(link, submission, &Audience::Staff));
    }
}

fn copies(submission: &SubmissionDetails) -> Vec<DocumentId> {
    submission
        .documents
        .iter()
        .filter_map(|copy| copy.document_id.clone())
        .collect()
}

fn emit_submission(
    event: Event,
    link: &GroupAssignmentDetails,
    submission: &Submission,
    documents: &[DocumentId],
    builder: &mut EventBuilder<'_>,
) {
    let payload = |_: &Audience| SubmissionEvent {
        submission: EventSubmission::new(submission, documents.to_vec()),
        group_assignment: EventGroupAssignment::from(link),
    };
    builder.emit_to_group(&link.group_context, event, payload);
}

/// A grade was published or changed. A member with an individual grade receives that one; a member whose grade did
/// not change receives nothing.
fn emit_published(
    link: &GroupAssignmentDetails,
    submission: &SubmissionDetails,
    written: &GradeWritten,
    members: &[UserId],
    builder: &mut EventBuilder<'_>,
) {
    let header = EventBuilder::event(&link.group_context.class, Event::GradePublished);
    builder.emit_to_staff(&header, grade_event(link, submission, &Audience::Staff));
    if !link.group_context.is_open(builder.now()) {
        return;
    }
    let grades = submission.grade.iter().flat_map(|grade| &grade.member_grades);
    let graded = grades.map(|grade| &grade.user_id).chain(&written.members);
    let own: BTreeSet<&UserId> = graded.filter(|user| members.contains(user)).collect();
    if written.is_group {
        let mut except = vec![Room::Staff(link.group_context.class.clone())];
        except.extend(own.iter().map(|user| Room::User((*user).clone())));
        let group = vec![Room::Group(link.group_context.group.id.clone())];
        builder.emit_except(&header, group, except, grade_event(link, submission, &Audience::Group));
    }
    for user in own {
        if written.is_group || written.members.contains(user) {
            let payload = grade_event(link, submission, &Audience::Student(user.clone()));
            builder.emit(&header, vec![Room::User(user.clone())], payload);
        }
    }
}

fn grade_event(link: &GroupAssignmentDetails, submission: &SubmissionDetails, audience: &Audience) -> GradeEvent {
    let grade = submission.grade.as_ref();
    GradeEvent {
        group_id: link.link.group_id.clone(),
        assignment_id: link.link.assignment_id.clone(),
        group_assignment_id: link.link.id.clone(),
        submission_id: submission.submission.id.clone(),
        grade: grade.and_then(|grade| EventGrade::new(grade, audience)),
    }
}

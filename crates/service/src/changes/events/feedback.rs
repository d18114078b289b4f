//! Events of feedback: the group receives published feedback, staff receive everything.

use domain::change::FeedbackChange;
use domain::details::GroupAssignmentDetails;
use domain::feedback::Feedback;
use domain::realtime::Event;

use super::event_builder::EventBuilder;
use api_types::event::FeedbackEvent;
use api_types::submission::FeedbackView;

pub fn emit(change: &FeedbackChange, builder: &mut EventBuilder<'_>) {
    match change {
        FeedbackChange::Created { link, feedback } => emit_created(link, feedback, builder),
        FeedbackChange::Updated {
            link,
            feedback,
            was_visible,
        } => {
            let header = EventBuilder::event(&link.group_context.class, Event::FeedbackUpdated);
            builder.emit_to_staff(&header, feedback_payload(link, feedback));
            match (was_visible, feedback.visible_to_students()) {
                (true, true) => builder.emit_to_link_members(&header, link, feedback_payload(link, feedback)),
                (true, false) => {
                    builder.emit_to_link_members(&header, link, withdrawn_payload(link, feedback));
                }
                (false, true) => {
                    let header = EventBuilder::event(&link.group_context.class, Event::FeedbackCreated);
                    builder.emit_to_link_members(&header, link, feedback_payload(link, feedback));
                }
                (false, false) => {}
            }
        }
        FeedbackChange::Deleted { link, feedback } => {
            let header = EventBuilder::event(&link.group_context.class, Event::FeedbackUpdated);
            builder.emit_to_staff(&header, withdrawn_payload(link, feedback));
            if feedback.visible_to_students() {
                builder.emit_to_link_members(&header, link, withdrawn_payload(link, feedback));
            }
        }
    }
}

/// Feedback was created or published.
pub fn emit_created(link: &GroupAssignmentDetails, feedback: &Feedback, builder: &mut EventBuilder<'_>) {
    let header = EventBuilder::event(&link.group_context.class, Event::FeedbackCreated);
    builder.emit_to_staff(&header, feedback_payload(link, feedback));
    if feedback.visible_to_students() {
        builder.emit_to_link_members(&header, link, feedback_payload(link, feedback));
    }
}

fn feedback_payload(link: &GroupAssignmentDetails, feedback: &Feedback) -> FeedbackEvent {
    FeedbackEvent {
        feedback: Some(FeedbackView::from(feedback)),
        ..withdrawn_payload(link, feedback)
    }
}

/// Returns the payload for feedback that was deleted or withdrawn.
fn withdrawn_payload(link: &GroupAssignmentDetails, feedback: &Feedback) -> FeedbackEvent {
    FeedbackEvent {
        group_id: link.link.group_id.clone(),
        assignment_id: link.link.assignment_id.clone(),
        group_assignment_id: link.link.id.clone(),
        feedback_id: feedback.id.clone(),
        feedback: None,
    }
}

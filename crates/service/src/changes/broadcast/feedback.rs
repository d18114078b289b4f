//! Events of feedback: the group receives published feedback, staff receive everything.

use model::change::feedback::FeedbackChange;
use model::feedback::Feedback;
use model::news::Event;
use model::whole::WholeGroupAssignment;

use super::telling::Telling;
use api_types::event::FeedbackEvent;
use api_types::submission::FeedbackView;

pub fn tell(change: &FeedbackChange, telling: &mut Telling<'_>) {
    match change {
        FeedbackChange::Created { link, feedback } => given(link, feedback, telling),
        FeedbackChange::Updated {
            link,
            feedback,
            was_visible,
        } => {
            let told = Telling::event(&link.place.class, Event::FeedbackUpdated);
            telling.tell_staff(&told, shown(link, feedback));
            match (was_visible, feedback.visible_to_students()) {
                (true, true) => telling.tell_members(&told, &link.place, shown(link, feedback)),
                (true, false) => telling.tell_members(&told, &link.place, withdrawn(link, feedback)),
                (false, true) => {
                    let told = Telling::event(&link.place.class, Event::FeedbackCreated);
                    telling.tell_members(&told, &link.place, shown(link, feedback));
                }
                (false, false) => {}
            }
        }
        FeedbackChange::Deleted { link, feedback } => {
            let told = Telling::event(&link.place.class, Event::FeedbackUpdated);
            telling.tell_staff(&told, withdrawn(link, feedback));
            if feedback.visible_to_students() {
                telling.tell_members(&told, &link.place, withdrawn(link, feedback));
            }
        }
    }
}

/// Feedback was created or published.
pub fn given(link: &WholeGroupAssignment, feedback: &Feedback, telling: &mut Telling<'_>) {
    let told = Telling::event(&link.place.class, Event::FeedbackCreated);
    telling.tell_staff(&told, shown(link, feedback));
    if feedback.visible_to_students() {
        telling.tell_members(&told, &link.place, shown(link, feedback));
    }
}

fn shown(link: &WholeGroupAssignment, feedback: &Feedback) -> FeedbackEvent {
    FeedbackEvent {
        feedback: Some(FeedbackView::from(feedback)),
        ..withdrawn(link, feedback)
    }
}

/// Returns the payload for feedback that was deleted or withdrawn.
fn withdrawn(link: &WholeGroupAssignment, feedback: &Feedback) -> FeedbackEvent {
    FeedbackEvent {
        group_id: link.link.group_id.clone(),
        assignment_id: link.link.assignment_id.clone(),
        group_assignment_id: link.link.id.clone(),
        feedback_id: feedback.id.clone(),
        feedback: None,
    }
}

//! Feedback: what students may read goes to the group, everything to the staff.

use model::change::feedback::FeedbackChange;
use model::feedback::Feedback;
use model::news::Event;
use model::whole::WholeGroupAssignment;
use serde_json::{Value, json};

use super::telling::Telling;
use crate::views::submission::FeedbackView;

pub fn tell(change: &FeedbackChange, telling: &mut Telling<'_>) {
    match change {
        FeedbackChange::Created { link, feedback } => given(link, feedback, telling),
        FeedbackChange::Updated {
            link,
            feedback,
            was_visible,
        } => {
            let told = Telling::event(&link.place.class, Event::FeedbackUpdated);
            telling.tell_staff(&told, shown(feedback));
            match (was_visible, feedback.visible_to_students()) {
                (true, true) => telling.tell_members(&told, &link.place, shown(feedback)),
                (true, false) => telling.tell_members(&told, &link.place, withdrawn(feedback)),
                (false, true) => {
                    let told = Telling::event(&link.place.class, Event::FeedbackCreated);
                    telling.tell_members(&told, &link.place, shown(feedback));
                }
                (false, false) => {}
            }
        }
        FeedbackChange::Deleted { link, feedback } => {
            let told = Telling::event(&link.place.class, Event::FeedbackUpdated);
            telling.tell_staff(&told, withdrawn(feedback));
            if feedback.visible_to_students() {
                telling.tell_members(&told, &link.place, withdrawn(feedback));
            }
        }
    }
}

/// A feedback that is new.
pub fn given(link: &WholeGroupAssignment, feedback: &Feedback, telling: &mut Telling<'_>) {
    let told = Telling::event(&link.place.class, Event::FeedbackCreated);
    telling.tell_staff(&told, shown(feedback));
    if feedback.visible_to_students() {
        telling.tell_members(&told, &link.place, shown(feedback));
    }
}

fn shown(feedback: &Feedback) -> Value {
    json!({"feedback": FeedbackView::from(feedback), "feedbackId": feedback.id})
}

/// A feedback that is not to be read any more.
fn withdrawn(feedback: &Feedback) -> Value {
    json!({"feedback": null, "feedbackId": feedback.id})
}

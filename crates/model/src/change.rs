//! stub
use crate::subject::Subject; use crate::course::Course; use crate::edit::Changed;
#[derive(Debug,Clone)] #[expect(missing_docs)] pub enum Change { Subject(SubjectChange), Course(CourseChange) }
#[derive(Debug,Clone)] #[expect(missing_docs)] pub enum SubjectChange { Created{subject:Subject}, Updated{subject:Subject,changed:Changed}, Deleted{subject:Subject} }
#[derive(Debug,Clone)] #[expect(missing_docs)] pub enum CourseChange { Created{course:Course}, Updated{course:Course,changed:Changed} }
impl From<SubjectChange> for Change { fn from(c:SubjectChange)->Self{Self::Subject(c)} }
impl From<CourseChange> for Change { fn from(c:CourseChange)->Self{Self::Course(c)} }

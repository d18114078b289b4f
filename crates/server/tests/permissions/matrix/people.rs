//! The actors of the columns, each with the markers that no response may show them.

use domain::access::EffectiveRole;

use test_support::{Client, TestApp, TestUser};

/// Marker of a draft grade. Only staff can read it.
pub const GRADE: &str = "Gradesecret";
/// Marker of data for another group of the topic. Among students, only that group can read it.
pub const OTHERS: &str = "Otherssecret";
/// Markers that only staff can read.
const STAFF: [&str; 2] = [GRADE, OTHERS];

/// A user who calls the routes.
pub struct MatrixActor {
    /// The column of the matrix.
    pub column: usize,
    pub name: String,
    pub effective_role: EffectiveRole,
    pub client: Client,
    /// Markers that this actor may never read.
    pub forbidden: Vec<&'static str>,
    pub is_super: bool,
}

/// Returns the actors of the columns, and Dana.
pub fn actors(app: &TestApp) -> (Vec<MatrixActor>, MatrixActor) {
    const NORTH: [&str; 12] = [
        "Plainouter",
        "Plaininner",
        "Archivedouter",
        "Archivedinner",
        "Draftouter",
        "Draftinner",
        "Unpublishedouter",
        "Unpublishedinner",
        "Hiddenouter",
        "Hiddeninner",
        "Cotaughtouter",
        "Cotaughtinner",
    ];
    const SOUTH: [&str; 2] = ["Southouter", "Southinner"];
    let world = &app.world;
    let actor = |column: usize, person: &TestUser, effective_role: EffectiveRole, may: &[&'static str]| {
        let words = NORTH.iter().chain(&SOUTH).chain(&STAFF);
        MatrixActor {
            column,
            name: person.name.clone(),
            effective_role,
            client: app.as_(person).with("x-request-id", "matrix"),
            forbidden: words.filter(|word| !may.contains(word)).copied().collect(),
            is_super: effective_role == EffectiveRole::SuperAdmin,
        }
    };
    let member = [
        "Plainouter",
        "Plaininner",
        "Archivedouter",
        "Archivedinner",
        "Unpublishedouter",
        "Unpublishedinner",
    ];
    let staff: Vec<&str> = NORTH.iter().chain(&STAFF).copied().collect();
    let of_south: Vec<&str> = SOUTH.iter().chain(&STAFF).copied().collect();
    let outlines: Vec<&str> = NORTH.iter().filter(|word| word.ends_with("outer")).copied().collect();
    let mut tom = outlines.clone();
    tom.extend(["Cotaughtinner", GRADE, OTHERS]);
    let everything: Vec<&str> = staff.iter().chain(&SOUTH).copied().collect();
    let stranger = MatrixActor {
        column: 0,
        name: "nobody".to_owned(),
        effective_role: EffectiveRole::Anonymous,
        client: app.stranger().with("x-request-id", "matrix"),
        forbidden: everything.clone(),
        is_super: false,
    };
    let actors = vec![
        stranger,
        actor(1, &world.ben, EffectiveRole::Student, &member),
        actor(2, &world.eli, EffectiveRole::Student, &[]),
        actor(
            3,
            &world.finn,
            EffectiveRole::Student,
            &["Cotaughtouter", "Cotaughtinner"],
        ),
        actor(4, &world.ada, EffectiveRole::Teacher, &staff),
        actor(5, &world.tom, EffectiveRole::Teacher, &tom),
        actor(6, &world.adam, EffectiveRole::Admin, &staff),
        actor(7, &world.zack, EffectiveRole::Student, &SOUTH),
        actor(7, &world.zoe, EffectiveRole::Teacher, &of_south),
        actor(7, &world.zara, EffectiveRole::Admin, &of_south),
        actor(8, &world.root, EffectiveRole::SuperAdmin, &everything),
    ];
    (actors, actor(1, &world.dana, EffectiveRole::Student, &[]))
}

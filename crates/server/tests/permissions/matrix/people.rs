//! The actors of the columns, each with the markers that no response may show them.

use model::access::Standing;

use test_support::{Client, Person, TestApp};

/// Marker of a draft grade. Only staff can read it.
pub const GRADE: &str = "Gradesecret";
/// Marker of data for another group of the topic. Among students, only that group can read it.
pub const OTHERS: &str = "Otherssecret";
/// Markers that only staff can read.
const STAFF: [&str; 2] = [GRADE, OTHERS];

/// A user who calls the routes.
pub struct Actor {
    /// The column of the matrix.
    pub column: usize,
    pub name: String,
    pub standing: Standing,
    pub client: Client,
    /// Markers that this actor may never read.
    pub forbidden: Vec<&'static str>,
    pub is_super: bool,
}

/// Returns the actors of the columns, and Dana.
pub fn actors(app: &TestApp) -> (Vec<Actor>, Actor) {
    const NORTH: [&str; 10] = [
        "Plainouter",
        "Plaininner",
        "Archivedouter",
        "Archivedinner",
        "Draftouter",
        "Draftinner",
        "Hiddenouter",
        "Hiddeninner",
        "Cotaughtouter",
        "Cotaughtinner",
    ];
    const SOUTH: [&str; 2] = ["Southouter", "Southinner"];
    let world = &app.world;
    let actor = |column: usize, person: &Person, standing: Standing, may: &[&'static str]| {
        let words = NORTH.iter().chain(&SOUTH).chain(&STAFF);
        Actor {
            column,
            name: person.name.clone(),
            standing,
            client: app.as_(person).with("x-request-id", "matrix"),
            forbidden: words.filter(|word| !may.contains(word)).copied().collect(),
            is_super: standing == Standing::SuperAdmin,
        }
    };
    let member = ["Plainouter", "Plaininner", "Archivedouter", "Archivedinner"];
    let staff: Vec<&str> = NORTH.iter().chain(&STAFF).copied().collect();
    let of_south: Vec<&str> = SOUTH.iter().chain(&STAFF).copied().collect();
    let outlines: Vec<&str> = NORTH.iter().filter(|word| word.ends_with("outer")).copied().collect();
    let mut tom = outlines.clone();
    tom.extend(["Cotaughtinner", GRADE, OTHERS]);
    let everything: Vec<&str> = staff.iter().chain(&SOUTH).copied().collect();
    let stranger = Actor {
        column: 0,
        name: "nobody".to_owned(),
        standing: Standing::Stranger,
        client: app.stranger().with("x-request-id", "matrix"),
        forbidden: everything.clone(),
        is_super: false,
    };
    let actors = vec![
        stranger,
        actor(1, &world.ben, Standing::Student, &member),
        actor(2, &world.eli, Standing::Student, &[]),
        actor(3, &world.finn, Standing::Student, &["Cotaughtouter", "Cotaughtinner"]),
        actor(4, &world.ada, Standing::Teacher, &staff),
        actor(5, &world.tom, Standing::Teacher, &tom),
        actor(6, &world.adam, Standing::Admin, &staff),
        actor(7, &world.zack, Standing::Student, &SOUTH),
        actor(7, &world.zoe, Standing::Teacher, &of_south),
        actor(7, &world.zara, Standing::Admin, &of_south),
        actor(8, &world.root, Standing::SuperAdmin, &everything),
    ];
    (actors, actor(1, &world.dana, Standing::Student, &[]))
}

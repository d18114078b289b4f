//! Setting the active organization of a session, and the data that is returned about it.

use domain::id::ClassId;
use domain::realtime::Room;
use serde_json::{Value, json};

use super::{Browser, signed_in};
use test_support::browser::{COPY, TOKEN, cookie_names, set_cookies};
use test_support::{TestApp, raw_socket, until};

async fn active_organization(browser: &Browser) -> Value {
    browser.session().await["activeOrganizationId"].clone()
}

both!(active_organization_is_set_by_id_or_slug_and_cleared, |app| {
    let (world, browser) = (&app.world, signed_in(app, &app.world.ada).await);
    let none = browser.set_active(json!({"organizationId": null})).await;
    assert!(set_cookies(&none).is_empty(), "there is nothing to leave");
    assert_eq!(none.expect(200), json!(null));
    assert_eq!(browser.set_active(json!({})).await.expect(200), json!(null));

    let chosen = browser
        .set_active(json!({"organizationId": world.north, "organizationSlug": "south"}))
        .await;
    assert_eq!(cookie_names(&chosen), [TOKEN, COPY]);
    let organization = chosen.expect(200);
    assert_eq!(
        (&organization["id"], &organization["slug"]),
        (&json!(world.north), &json!("north"))
    );
    for key in ["name", "logo", "createdAt", "metadata"] {
        assert!(organization.get(key).is_some(), "{organization}");
    }
    assert!(organization.get("members").is_none());
    assert_eq!(active_organization(&browser).await, world.north);
    browser.get("/subjects").await.expect(200);
    assert_eq!(
        browser.set_active(json!({})).await.expect(200)["id"],
        world.north,
        "the active one again"
    );

    assert_eq!(
        browser.set_active(json!({"organizationId": null})).await.expect(200),
        json!(null)
    );
    assert_eq!(active_organization(&browser).await, json!(null));
    browser.get("/subjects").await.refused(400, "NO_ACTIVE_ORGANIZATION");
    assert_eq!(
        browser
            .set_active(json!({"organizationSlug": "north"}))
            .await
            .expect(200)["id"],
        world.north
    );
    browser
        .set_active(json!({"organizationSlug": "nowhere"}))
        .await
        .refused(400, "ORGANIZATION_NOT_FOUND");
    assert_eq!(
        active_organization(&browser).await,
        world.north,
        "an unknown short name changes nothing"
    );
});

both!(foreign_organization_is_rejected_and_active_one_cleared, |app| {
    let (world, browser) = (&app.world, signed_in(app, &app.world.ada).await);
    let foreign = [
        json!({"organizationId": world.south}),
        json!({"organizationId": "0190a1b2-0000-7000-8000-00000000dead"}),
        json!({"organizationSlug": "south"}),
    ];
    let mut context = Vec::new();
    for body in foreign {
        browser
            .set_active(json!({"organizationId": world.north}))
            .await
            .expect(200);
        let answer = browser.set_active(body).await;
        assert_eq!(cookie_names(&answer), [TOKEN, COPY], "the cookies say it too");
        let mut body = answer.refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
        body["requestId"] = json!(null);
        context.push(body);
        assert_eq!(active_organization(&browser).await, json!(null));
        browser.get("/subjects").await.refused(400, "NO_ACTIVE_ORGANIZATION");
    }
    assert!(
        context.windows(2).all(|pair| pair[0] == pair[1]),
        "unknown and foreign look alike"
    );
});

tenants!(body_is_validated_before_the_session, |app| {
    let stranger = Browser::new(app);
    let body = stranger
        .set_active(json!({"organizationId": 5}))
        .await
        .refused(400, "VALIDATION_ERROR");
    assert_eq!(
        body["message"],
        "[body.organizationId] Invalid input: expected string, received number"
    );
    stranger
        .set_active(json!({"organizationId": app.world.north}))
        .await
        .refused(401, "UNAUTHORIZED");
    let browser = signed_in(app, &app.world.ada).await;
    browser
        .set_active(json!({"organizationId": "a\u{0}b"}))
        .await
        .refused(400, "BAD_REQUEST");
    browser
        .set_active(json!({"organizationSlug": null}))
        .await
        .refused(400, "VALIDATION_ERROR");
});

tenants!(super_admin_can_activate_any_organization, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    for organization in [&world.north, &world.south] {
        assert_eq!(
            root.set_active(json!({"organizationId": organization}))
                .await
                .expect(200)["id"],
            **organization
        );
        root.get("/subjects").await.expect(200);
        let whole = root.get("/auth/organization/get-full-organization").await.expect(200);
        assert!(whole["members"].as_array().unwrap().len() >= 3, "{whole}");
    }
    root.get("/auth/organization/get-active-member")
        .await
        .refused(400, "MEMBER_NOT_FOUND");
    root.get("/auth/organization/get-active-member-role")
        .await
        .refused(403, "YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION");
    root.set_active(json!({"organizationId": "unknown"}))
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
});

tenants!(student_reads_own_membership_only, |app| {
    let (world, browser) = (&app.world, signed_in(app, &app.world.ben).await);
    assert_eq!(
        browser
            .get("/auth/organization/get-full-organization")
            .await
            .expect(200),
        json!(null)
    );
    browser
        .get("/auth/organization/get-active-member")
        .await
        .refused(400, "NO_ACTIVE_ORGANIZATION");
    browser
        .get("/auth/organization/get-active-member-role")
        .await
        .refused(400, "NO_ACTIVE_ORGANIZATION");
    browser
        .get("/auth/organization/list-members")
        .await
        .refused(400, "NO_ACTIVE_ORGANIZATION");
    let own = browser.get("/auth/organization/list").await.expect(200);
    assert_eq!((own.as_array().unwrap().len(), &own[0]["id"]), (1, &json!(world.north)));

    browser
        .set_active(json!({"organizationId": world.north}))
        .await
        .expect(200);
    let whole = browser
        .get("/auth/organization/get-full-organization")
        .await
        .expect(200);
    assert_eq!(whole["members"].as_array().unwrap().len(), 1);
    assert_eq!(whole["members"][0]["userId"], world.ben.id);
    assert_eq!(whole["members"][0]["user"]["email"], world.ben.email);
    assert_eq!(whole["invitations"], json!([]));
    let listed = browser.get("/auth/organization/list-members").await.expect(200);
    assert_eq!(
        (&listed["total"], &listed["members"][0]["userId"]),
        (&json!(1), &json!(world.ben.id))
    );
    let member = browser.get("/auth/organization/get-active-member").await.expect(200);
    assert_eq!(member, whole["members"][0]);
    let of_ada = format!("/auth/organization/get-active-member-role?userId={}", world.ada.id);
    browser.get(&of_ada).await.refused(400, "MEMBER_NOT_FOUND");
    let own = browser
        .get("/auth/organization/get-active-member-role")
        .await
        .expect(200);
    assert_eq!(own, json!({"role": "student"}));
});

both!(staff_list_members_with_addresses_of_own_students, |app| {
    let (world, browser) = (&app.world, signed_in(app, &app.world.ada).await);
    browser
        .set_active(json!({"organizationId": world.north}))
        .await
        .expect(200);
    let listed = browser.get("/auth/organization/list-members").await.expect(200);
    let email = |id: &str| {
        let members = listed["members"].as_array().unwrap();
        members.iter().find(|member| member["userId"] == id).unwrap()["user"]["email"].clone()
    };
    assert_eq!(email(&world.ben.id), world.ben.email, "a student of the own class");
    assert_eq!(email(&world.tom.id), world.tom.email, "a colleague");
    assert_eq!(email(&world.finn.id), "", "a student of another class");
    assert!(
        !listed.to_string().contains(&world.zoe.id),
        "nobody of the other school"
    );

    let page = browser
        .get("/auth/organization/list-members?limit=2&offset=1&sortBy=role&sortDirection=desc")
        .await
        .expect(200);
    assert_eq!(
        (page["members"].as_array().unwrap().len(), &page["total"]),
        (2, &listed["total"])
    );
    let teachers =
        "/auth/organization/list-members?filterField=role&filterOperator=in&filterValue=teacher&filterValue=owner";
    let teachers = browser.get(teachers).await.expect(200);
    assert_eq!(teachers["total"], 3);
    let theirs = format!(
        "/auth/organization/get-full-organization?organizationId={}",
        world.south
    );
    browser
        .get(&theirs)
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    browser
        .get("/auth/organization/list-members?organizationSlug=nowhere")
        .await
        .refused(400, "ORGANIZATION_NOT_FOUND");
    // Here the code of better-auth differs from the one of `get-full-organization`.
    for theirs in [world.south.as_str(), "0190a1b2-0000-7000-8000-000000000001"] {
        browser
            .get(&format!("/auth/organization/list-members?organizationId={theirs}"))
            .await
            .refused(403, "YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION");
    }
    assert_eq!(
        active_organization(&browser).await,
        world.north,
        "reading changes nothing"
    );
    let whole = browser
        .get("/auth/organization/get-full-organization?organizationSlug=north&membersLimit=3")
        .await
        .expect(200);
    assert_eq!(whole["members"].as_array().unwrap().len(), 3);
});

tenants!(has_permission_matches_better_auth, |app| {
    let allowed = async |browser: &Browser, wanted: Value| {
        let answer = browser
            .post("/auth/organization/has-permission", json!({"permissions": wanted}))
            .await;
        answer.expect(200)["success"].clone()
    };
    let (world, adam, ada) = (
        &app.world,
        signed_in(app, &app.world.adam).await,
        signed_in(app, &app.world.ada).await,
    );
    ada.post("/auth/organization/has-permission", json!({"permissions": {}}))
        .await
        .refused(400, "NO_ACTIVE_ORGANIZATION");
    for browser in [&adam, &ada] {
        browser
            .set_active(json!({"organizationId": world.north}))
            .await
            .expect(200);
    }
    assert_eq!(
        allowed(&adam, json!({"organization": ["update"], "member": ["create"]})).await,
        true
    );
    assert_eq!(
        allowed(&adam, json!({"organization": ["update", "delete"]})).await,
        false
    );
    assert_eq!(allowed(&ada, json!({"member": ["create"]})).await, false);
    assert_eq!(allowed(&ada, json!({"ac": ["read"]})).await, true);
    assert_eq!(allowed(&ada, json!({"nonsense": ["read"]})).await, false);
    ada.post("/auth/organization/has-permission", json!({"permission": {}}))
        .await
        .expect(400);
    let theirs = json!({"permissions": {}, "organizationId": world.south});
    ada.post("/auth/organization/has-permission", theirs)
        .await
        .refused(401, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
});

tenants!(better_auth_routes_that_manage_members_are_rejected, |app| {
    let (world, browser) = (&app.world, signed_in(app, &app.world.olga).await);
    browser
        .set_active(json!({"organizationId": world.north}))
        .await
        .expect(200);
    let posts = [
        "create",
        "update",
        "delete",
        "leave",
        "check-slug",
        "update-member-role",
        "remove-member",
        "invite-member",
    ];
    for name in posts {
        let path = format!("/auth/organization/{name}");
        assert_eq!(
            browser.post(&path, json!({"organizationId": world.north})).await.status,
            403,
            "{name}"
        );
        app.stranger().post(&path, json!({})).await.refused(401, "UNAUTHORIZED");
    }
    assert_eq!(
        browser
            .get("/auth/organization/list")
            .await
            .expect(200)
            .as_array()
            .unwrap()
            .len(),
        1
    );
});

/// Waits until a room has the expected number of sockets.
async fn wait_for_sockets(app: &TestApp, room: &Room, wanted: usize) {
    let what = format!("{room:?} has {wanted} sockets");
    until(&what, async || app.app.realtime().count(room) == wanted).await;
}

both!(sockets_follow_active_organization_and_end_with_session, |app| {
    let (world, browser) = (&app.world, signed_in(app, &app.world.ben).await);
    let room = Room::Class(ClassId::new(world.seven_b.id.clone()));
    let mut socket = raw_socket::Socket::open(app, browser.client().cookie().unwrap()).await;
    socket.expect("ready").await;
    wait_for_sockets(app, &room, 0).await;
    browser
        .set_active(json!({"organizationId": world.north}))
        .await
        .expect(200);
    wait_for_sockets(app, &room, 1).await;
    browser
        .set_active(json!({"organizationId": world.south}))
        .await
        .refused(403, "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION");
    wait_for_sockets(app, &room, 0).await;
    browser
        .set_active(json!({"organizationId": world.north}))
        .await
        .expect(200);
    wait_for_sockets(app, &room, 1).await;
    app.as_(&world.ben)
        .post("/auth/revoke-other-sessions", json!({}))
        .await
        .expect(200);
    socket.expect("session:revoked").await;
    wait_for_sockets(app, &room, 0).await;
    while socket.next().await.is_some() {}
});

//! The list of all accounts: search, filters and sort fields come from closed lists; a page has at most 200 accounts.

use better_auth::error::AuthError;
use better_auth::object::UserObject;
use better_auth::schema::FieldReader;
use serde::Serialize;
use serde_json::Value;

use super::super::request::AuthRequest;
use super::super::response::{AuthResult, json_response};
use super::schema;
use super::{administrator, shown};
use db::platform::administration::{AccountSearch, Comparison};

/// Search operators of the library.
const SEARCH: [&str; 3] = ["contains", "starts_with", "ends_with"];
/// Filter operators of the library.
const FILTER: [&str; 11] = [
    "eq",
    "ne",
    "lt",
    "lte",
    "gt",
    "gte",
    "in",
    "not_in",
    "contains",
    "starts_with",
    "ends_with",
];

/// A page of accounts. `limit` and `offset` are present only when the request has them.
#[derive(Serialize)]
struct UserPage {
    users: Vec<UserObject>,
    total: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<i64>,
}

/// List all accounts of the platform
#[utoipa::path(get, path = "/auth/admin/list-users",
    params(("searchValue" = Option<String>, Query, description = "The text to search for"),
        ("searchField" = Option<String>, Query, description = "The field to search: email or name"),
        ("searchOperator" = Option<String>, Query, description = "How to search: contains, starts_with or ends_with"),
        ("limit" = Option<String>, Query, description = "Maximum number of accounts, at most 200"),
        ("offset" = Option<String>, Query, description = "Number of accounts to skip"),
        ("sortBy" = Option<String>, Query, description = "The field to sort by"),
        ("sortDirection" = Option<String>, Query, description = "asc or desc"),
        ("filterField" = Option<String>, Query, description = "The field to compare"),
        ("filterOperator" = Option<String>, Query, description = "How to compare: eq, ne, lt, lte, gt, gte, in, contains …"),
        ("filterValue" = Option<Vec<String>>, Query, description = "The value or values to compare with")),
    responses((status = 200, body = schema::AuthUsers, description = "users and total; limit and offset if they were sent"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_LIST_USERS")))]
pub(crate) async fn list(request: AuthRequest) -> AuthResult {
    let search = read(&request)?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_list_users()).await?;
    let (limit, offset) = (search.limit.map(|_| search.page()), search.offset);
    let now = admin.now;
    let load = request.read(move |platform| platform.search_accounts(&search, now));
    let (accounts, total) = load.await?;
    let page = UserPage {
        users: accounts.iter().map(|account| shown(account, now)).collect(),
        total,
        limit,
        offset: (offset > 0).then_some(offset),
    };
    Ok(json_response(&page, current_session.cookies))
}

fn read(request: &AuthRequest) -> Result<AccountSearch, AuthError> {
    let query = request.query_object();
    let mut reader = FieldReader::query(&query);
    let search_value = reader.optional_string("searchValue").filter(|text| !text.is_empty());
    let search_field = reader
        .optional_enum("searchField", &["email", "name"])
        .unwrap_or("email");
    let search_operator = reader.optional_enum("searchOperator", &SEARCH).unwrap_or("contains");
    let (limit, offset) = (reader.optional_string("limit"), reader.optional_string("offset"));
    let sort = reader
        .optional_enum("sortBy", &AccountSearch::FIELDS)
        .map(str::to_owned);
    let downwards = reader.optional_enum("sortDirection", &["asc", "desc"]) == Some("desc");
    let filter_field = reader
        .optional_enum("filterField", &AccountSearch::FIELDS)
        .unwrap_or("email");
    let filter_operator = reader.optional_enum("filterOperator", &FILTER).unwrap_or("eq");
    reader.finish()?;
    // One value, or several under the same name: the library's client sends both.
    let values: Vec<String> = request.queries("filterValue").into_iter().map(str::to_owned).collect();
    let filter = query
        .get("filterValue")
        .is_some_and(|value| *value != Value::Null)
        .then(|| (filter_field.to_owned(), comparison(filter_operator, values)));
    let positive = |text: Option<&str>| text.and_then(|text| text.trim().parse::<i64>().ok()).filter(|n| *n > 0);
    Ok(AccountSearch {
        search: search_value.map(|value| {
            let comparison = comparison(search_operator, vec![value.to_owned()]);
            (search_field.to_owned(), comparison)
        }),
        filter,
        sort: sort.map(|field| (field, downwards)),
        limit: positive(limit),
        offset: positive(offset).unwrap_or(0),
    })
}

fn comparison(operator: &str, values: Vec<String>) -> Comparison {
    let first = values.first().cloned().unwrap_or_default();
    match operator {
        "ne" | "not_in" => Comparison::NoneOf(values),
        "lt" => Comparison::Before(first),
        "lte" => Comparison::UpTo(first),
        "gt" => Comparison::After(first),
        "gte" => Comparison::From(first),
        "contains" => Comparison::Contains(first),
        "starts_with" => Comparison::StartsWith(first),
        "ends_with" => Comparison::EndsWith(first),
        _ => Comparison::OneOf(values),
    }
}

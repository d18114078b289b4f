// Compares the users of the school with a file: new users without a password, and users missing from the file.
import { queryOptions } from "@tanstack/react-query";

import { queryKeys } from "../../api/queryKeys";
import { fetchAllUsers, isFullUser, type KnownUser, roleOf, type FullUser } from "../users/users";
import { parseLine } from "./columns";
import type { Report, Wizard } from "./wizard";

export const allUsersQuery = queryOptions({
  queryKey: queryKeys.users.everybody(),
  queryFn: () => fetchAllUsers({ isActive: "1" }),
});

/** Users created by an import who cannot sign in yet: new accounts of this school without an imported password. */
export function usersWithoutPassword(wizard: Wizard, report: Report, known: readonly KnownUser[]): FullUser[] {
  const users = new Map(known.map((user) => [user.id, user]));
  const made = report.rows.filter(
    (row) => row.status === "created" && (row.file ?? "users.csv") === "users.csv" && !hasPasswordHash(wizard, row.row),
  );
  return made
    .map((row) => users.get(row.userId ?? ""))
    .filter((user): user is FullUser => user !== undefined && isFullUser(user) && user.lastLoginAt === null);
}

function hasPasswordHash(wizard: Wizard, row: number): boolean {
  const cells = wizard.rows?.[row - 1];
  return cells !== undefined && parseLine(cells, wizard).passwordHash !== "";
}

/** Students, and teachers if the file contains any, missing from the file. Administrators are never included. */
export function usersNotInFile(wizard: Wizard, report: Report, known: readonly KnownUser[]): KnownUser[] {
  const ids = new Set(report.rows.map((row) => row.userId).filter(Boolean));
  const addresses = new Set((wizard.rows ?? []).slice(1).map((row) => parseLine(row, wizard).email.toLowerCase()));
  const isIn = (user: KnownUser) => ids.has(user.id) || (user.email != null && addresses.has(user.email.toLowerCase()));
  const roles = new Set(known.filter(isIn).map(roleOf));
  return known.filter((user) => {
    const role = roleOf(user);
    return (role === "student" || role === "teacher") && roles.has(role) && !isIn(user);
  });
}

import { containsNumber } from "../../i18n/names";

export interface NamedGroup {
  groupNumber: number;
  displayName?: string | null;
  name: string;
}

/** The name of a group as shown to its members. */
export const nameOf = (group: Pick<NamedGroup, "displayName" | "name">): string => group.displayName ?? group.name;

/** Whether the name contains the number already: "Group 1". */
export const isNumberInName = (group: NamedGroup): boolean => containsNumber(nameOf(group), group.groupNumber);

/** Number and name of a group, as announced and shown in texts. */
export const numberedName = (group: NamedGroup): string =>
  isNumberInName(group) ? nameOf(group) : `${group.groupNumber} ${nameOf(group)}`;

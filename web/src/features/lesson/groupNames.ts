interface NamedGroup {
  groupNumber: number;
  displayName?: string | null;
  name: string;
}

/** The name of a group as shown to its members. */
export const nameOf = (group: Pick<NamedGroup, "displayName" | "name">): string => group.displayName ?? group.name;

/** Number and name of a group, as announced and shown in texts. */
export const numberedName = (group: NamedGroup): string => `${group.groupNumber} ${nameOf(group)}`;

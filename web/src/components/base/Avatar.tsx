import { initials, personColors } from "./people";

export interface Person {
  id: string;
  name: string;
}

const SIZES = {
  small: "size-5.5 text-[0.5625rem]",
  medium: "size-7 text-[0.6875rem]",
  large: "size-8 text-xs",
} as const;

interface Props {
  name: string;
  color: number;
  size?: keyof typeof SIZES;
  /** An outline only: the person is not here. */
  isAway?: boolean;
}

/**
 * The initials of a person in their colour; the name stands next to it or in a label. The initials are drawn by the style sheet,
 * because they must not be part of the text of a button.
 */
export function Avatar({ name, color, size = "small", isAway = false }: Props) {
  return (
    <span
      aria-hidden="true"
      data-initials={initials(name)}
      className={`initials inline-flex shrink-0 items-center justify-center rounded-full border-[1.5px] font-bold select-none ${SIZES[size]} ${isAway ? "border-line text-soft" : `person person-${color} border-transparent`}`}
    />
  );
}

/** The members of a group as initials. They never overlap, because the initials are the names. */
export function Avatars({
  people,
  size = "small",
  label,
}: {
  people: readonly Person[];
  size?: keyof typeof SIZES;
  label: string;
}) {
  const colors = personColors(people.map((person) => person.id));
  return (
    <ul aria-label={label} className="flex flex-wrap gap-0.5">
      {people.map((person) => (
        <li key={person.id} title={person.name} className="inline-flex">
          <Avatar name={person.name} color={colors.get(person.id) ?? 0} size={size} />
          <span className="sr-only">{person.name}</span>
        </li>
      ))}
    </ul>
  );
}

// Icons of several pages of a lesson. Constants, not re-exports: the bundler follows re-exports to the icons, and each icon would
// be a file of its own.
import * as lucide from "lucide-react";

export const Check = lucide.Check;
export const ChevronDown = lucide.ChevronDown;
export const ChevronUp = lucide.ChevronUp;
export const ChevronRight = lucide.ChevronRight;
export const Clock = lucide.Clock;
export const Hand = lucide.Hand;
export const Lock = lucide.Lock;
export const Mail = lucide.Mail;
export const MessageSquare = lucide.MessageSquare;
export const Pencil = lucide.Pencil;

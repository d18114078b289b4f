export { personColor as colorOfId, personColors } from "../../components/base/people";

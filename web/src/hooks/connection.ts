import { createContext, useContext } from "react";

import type { ConnectionStatus } from "../api/realtime";

export const ConnectionContext = createContext<ConnectionStatus>("connecting");

/** The status of the realtime connection, for screens without the header. */
export const useConnection = (): ConnectionStatus => useContext(ConnectionContext);

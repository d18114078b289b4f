// The settings of a peer: a JSON file named on the command line.
//
//   {
//     "sqlite": "/path/groupwork.db" or "postgres": "postgres://...",
//     "folder": "/path",            for the separate database of sessions
//     "secret": "...",              signs the session cookies like the secret of the service
//     "people": [{"id", "name", "email", "token", "organizationId"}],
//     "workers": 1
//   }
import { readFileSync } from 'node:fs'

export const settings = JSON.parse(readFileSync(process.argv[2], 'utf8'))

/** Sends the address of this peer and the processes to be measured to the benchmark. */
export function greet(address, processes) {
  console.log(JSON.stringify({ base: `http://127.0.0.1:${address.port}`, processes }))
}

/** The measuring program closes this pipe when it ends, however it ends. */
export function endWithParent() {
  process.stdin.resume()
  process.stdin.on('end', () => process.exit(0))
}

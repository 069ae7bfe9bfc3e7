import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alternate, configMap, type Figure, type Line, spreadOf } from '../figure.ts'
import { bodyRequest, getRequest, loadHttp1 } from '../http1-load.ts'
import type { OrchServer } from '../orch-server.ts'
import { fill, withConnections, withFolder, withOrch } from '../shared-server.ts'

const rbac = 'rbac.authorization.orch.io'
const collection = '/api/v1/namespaces/default/configmaps'
const durationMs = 700

interface Operation {
  readonly label: string
  readonly connections: number
  readonly expected: number
  request(token: string): string
}

let serial = 0

function withToken(request: string | Buffer, token: string): string {
  return String(request).replace('\r\n', `\r\nauthorization: Bearer ${token}\r\n`)
}

const operations: readonly Operation[] = [
  {
    label: 'get',
    connections: 64,
    expected: 200,
    request: (token) => withToken(getRequest(`${collection}/bench-000000`), token),
  },
  {
    label: 'create',
    connections: 64,
    expected: 201,
    request: (token) => withToken(bodyRequest('POST', collection, configMap(`user-${serial++}`, 3000)), token),
  },
  {
    label: 'list of 50',
    connections: 4,
    expected: 200,
    request: (token) => withToken(getRequest(`${collection}?limit=50`), token),
  },
]

export const userLine: Line = {
  name: 'user',
  what: 'CPU of requests by a user with the role edit in one namespace, beside an administrator; both show a static token',
  run: () =>
    withFolder((folder) => {
      const tokens = join(folder, 'tokens.csv')
      writeFileSync(tokens, 'admin,admin,1,"system:masters"\nuser,user,2\n')
      return withOrch({ memory: true, flags: [`--token-auth-file=${tokens}`] }, async (server) => {
        await fill(server, 100, 3000)
        await allow(server)
        const figures: (Figure & { label: string })[] = []
        for (const operation of operations) figures.push(await compare(server, operation))
        return figures
      })
    }),
}

async function allow(server: OrchServer): Promise<void> {
  const binding = {
    metadata: { name: 'user' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'User', apiGroup: rbac, name: 'user' }],
  }
  await withConnections(1, server.port, server, async ([one]) => {
    const answer = await one?.send(bodyRequest('POST', `/apis/${rbac}/v1/namespaces/default/rolebindings`, binding), true)
    if (answer?.status !== 201) throw new Error(`a role binding answered ${answer?.status}: ${answer?.body}`)
  })
}

/** Each side uses other connections, because a connection remembers its last token. */
function compare(server: OrchServer, { label, connections, expected, request }: Operation): Promise<Figure & { label: string }> {
  return withConnections(connections, server.port, { ca: server.ca }, (ours) =>
    withConnections(connections, server.port, { ca: server.ca }, async (theirs) => {
      const side = (of: typeof ours, token: string) => async () => {
        const before = server.child.cpuMicros()
        const { count } = await loadHttp1(of, () => request(token), { durationMs, expected })
        return (server.child.cpuMicros() - before) / count
      }
      const sides = [side(ours, 'user'), side(theirs, 'admin')]
      await alternate(3, sides)
      const [values = [], floors = []] = await alternate(9, sides)
      const spread = { ours: spreadOf(values), floor: spreadOf(floors) }
      const { median: value } = spread.ours
      const { median: floor } = spread.floor
      const note = 'µs of CPU; floor: the administrator'
      return { label, value, floor, unit: 'µs', ratio: floor / value, target: 0.85, goal: 0.95, better: 'more', spread, note }
    }),
  )
}

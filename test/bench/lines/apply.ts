import type { Line } from '../figure.ts'
import { bodyRequest, loadHttp1 } from '../http1-load.ts'
import { withOrch } from '../shared-server.ts'
import { compareWrites, writeInTurn } from './compare.ts'

const collection = '/api/v1/namespaces/default/configmaps'
const ownedFields = 30

/** A configuration with thirty fields; each apply changes one field. */
function configuration(name: string, count: number): Record<string, unknown> {
  const keys = Array.from({ length: ownedFields - 1 }, (_, index) => [`key-${index}`, 'abcdefghij'.repeat(8)])
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { ...Object.fromEntries(keys), count: String(count) } }
}

function applyRequest(name: string, count: number): Buffer {
  const target = `${collection}/${name}?fieldManager=bench`
  return bodyRequest('PATCH', target, configuration(name, count), 'application/apply-patch+yaml')
}

export const applyLine: Line = {
  name: 'apply',
  what: `APPLY of a 3 KB object with ${ownedFields} owned fields, durable, concurrency 64`,
  run: () =>
    withOrch({}, async (server) => {
      const compared = await compareWrites(
        server,
        (connections) => writeInTurn(connections, 2000, (index, count) => applyRequest(`applied-${index}`, count)),
        (connections) => loadHttp1(connections, () => applyRequest('floor', 0), { durationMs: 2000, expected: 201 }),
      )
      return [{ ...compared, target: 0.15, goal: 0.3 }]
    }),
}

import { systemClock } from '@orch/platform'
import { RequestLog } from '../../../services/gateway/src/index.ts'
import { type Line, median, spreadOf } from '../figure.ts'

/** The requests of one round. The log of 10,000 is full for most of them. */
const requests = 200_000
const rounds = 9

/** The members of a request that the log reads. Each path is a new string, as from the parser. */
function aRequest(index: number) {
  const path = `/api/v1/namespaces/default/configmaps/m-${index % 1_000}`
  const user = { name: 'operator', uid: '', groups: [], extra: {} }
  const exchange = { header: () => 'manager/v1.2 (linux/amd64)', target: path, peer: { kind: 'unknown' } }
  const outcome = { code: 200, revision: index, writtenName: '', hasChanged: true, isNoop: false, fault: '', logged: -1 }
  return { method: 'PUT', path, user, exchange, ...outcome }
}

export const requestLogLine: Line = {
  name: 'request-log',
  what: 'the log of requests: CPU of noting one',
  async run() {
    const log = new RequestLog(systemClock)
    const noted = Array.from({ length: requests }, (_, index) => aRequest(index))
    const micros: number[] = []
    for (let round = 0; round < rounds; round++) {
      const before = process.cpuUsage()
      for (const request of noted) log.note(request as unknown as Parameters<RequestLog['note']>[0], 1)
      const { user, system } = process.cpuUsage(before)
      micros.push((user + system) / requests)
    }
    const value = median(micros)
    return [{ value, unit: 'µs', ratio: value, goal: 0.5, better: 'less', spread: { ours: spreadOf(micros) } }]
  },
}

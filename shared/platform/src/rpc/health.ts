import { contract, type Service, type Stream, stream, unary, wire } from '@orch/core/contracts'
import { failed } from '@orch/core/meta'
import { PushStream } from './push-stream.ts'

const question = wire.message({ service: wire.string(1) })
const answer = wire.message({ status: wire.int64(1) })

/** The standard health service of gRPC as a contract. The empty name means the whole server. */
export const healthContract = contract('grpc.health.v1.Health', {
  check: unary(question, answer),
  watch: stream(question, answer, { endless: true }),
})

/** Values of the protocol. `unknown`: the server is reachable but its backend does not answer. */
export const servingStatus = { unknown: 0, serving: 1, notServing: 2, serviceUnknown: 3 } as const

/** Announces whether the server accepts calls. */
export interface Health {
  readonly service: Service<typeof healthContract>
  setServing(isServing: boolean): void
  /** False: callers should use another replica if one exists. */
  setUseful(isUseful: boolean): void
}

/** The health of a server that offers these contracts; all contracts have the same status. */
export function createHealth({ offers, isServing }: { offers: readonly string[]; isServing: boolean }): Health {
  const known = new Set(['', ...offers])
  const watchers = new Set<PushStream<{ status: number }>>()
  let [wantsCalls, isOfUse] = [isServing, true]
  const statusNow = () => {
    if (!wantsCalls) return servingStatus.notServing
    return isOfUse ? servingStatus.serving : servingStatus.unknown
  }
  let status: number = statusNow()
  const send = () => {
    if (status === statusNow()) return
    status = statusNow()
    for (const parts of watchers) parts.push({ status })
  }
  return {
    service: {
      async check({ service }) {
        if (!known.has(service)) throw failed(404, 'NotFound', `the service ${JSON.stringify(service)} is not offered here`)
        return { status }
      },
      watch({ service }): Stream<{ status: number }> {
        const parts: PushStream<{ status: number }> = new PushStream({ onClose: () => void watchers.delete(parts) })
        parts.push({ status: known.has(service) ? status : servingStatus.serviceUnknown })
        if (known.has(service)) watchers.add(parts)
        return parts
      },
    },
    setServing(wanted) {
      wantsCalls = wanted
      send()
    },
    setUseful(isUseful) {
      isOfUse = isUseful
      send()
    },
  }
}

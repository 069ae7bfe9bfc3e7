import { alternate, type Figure, spreadOf } from '../figure.ts'
import type { Connection } from '../http1-load.ts'
import type { OrchServer } from '../orch-server.ts'
import type { Child } from '../process.ts'
import { startFloor, withConnections } from '../shared-server.ts'

/** The outcome of a round. */
export type Rate = Awaited<ReturnType<typeof writeInTurn>>

interface Side {
  readonly child: Pick<Child, 'cpuMicros'>
  readonly load: () => Promise<Rate>
}

type Compared = Omit<Figure, 'target' | 'goal'>

/** Alternates rounds of our server and the floor: the best round of each, with the CPU time per operation. */
export async function compare(ours: Side, floor: Side, rounds: number): Promise<Compared> {
  const sides = [ours, floor].map(({ child, load }) => {
    const spent = { micros: 0, count: 0 }
    const round = async () => {
      const before = child.cpuMicros()
      const { perSecond, count } = await load()
      spent.micros += child.cpuMicros() - before
      spent.count += count
      return perSecond
    }
    return { round, microsEach: () => spent.micros / spent.count }
  })
  const [our = [], theirs = []] = await alternate(
    rounds,
    sides.map(({ round }) => round),
  )
  const spread = { ours: spreadOf(our), floor: spreadOf(theirs) }
  const [value, best] = [spread.ours.largest, spread.floor.largest]
  const [cpuMicros = 0, floorMicros = 0] = sides.map(({ microsEach }) => microsEach())
  // A busy disk slows our server and not the floor.
  const note = `${Math.round(floorMicros)} µs of CPU at the floor`
  return { value, floor: best, unit: 'req/s', ratio: value / best, better: 'more', cpuMicros, spread, note }
}

/** Writes on 64 connections, beside the floor that only answers. */
export async function compareWrites(
  server: OrchServer,
  ours: (connections: readonly Connection[]) => Promise<Rate>,
  theirs: (connections: readonly Connection[]) => Promise<Rate>,
): Promise<Compared> {
  const floor = await startFloor('post', server.folder)
  const compared = await withConnections(64, server.port, server, (mine) =>
    withConnections(64, floor.port, server, (others) =>
      compare({ child: server.child, load: () => ours(mine) }, { child: floor.child, load: () => theirs(others) }, 4),
    ),
  )
  await floor.child.stop()
  return compared
}

/** Each connection writes another object, so that no request conflicts. */
export async function writeInTurn(
  connections: readonly Connection[],
  durationMs: number,
  request: (connection: number, count: number) => Buffer,
) {
  const began = performance.now()
  let count = 0
  await Promise.all(
    connections.map(async (connection, index) => {
      while (performance.now() - began < durationMs) {
        const { status } = await connection.send(request(index, count))
        if (status !== 200 && status !== 201) throw new Error(`a write was answered ${status}`)
        count++
      }
    }),
  )
  return { perSecond: count / ((performance.now() - began) / 1000), count }
}

import { type Figure, type Line, median } from '../figure.ts'
import { Child } from '../process.ts'

const program = new URL('../cluster-load.ts', import.meta.url).pathname
type Labelled = Figure & { readonly label: string }

interface Cost {
  /** Seconds. */
  readonly cpu: number
  readonly writes: number
}

/** The figures of an operation of `cluster-load.ts` in a separate process. */
async function runOperation<T>(name: string, ...numbers: readonly number[]): Promise<T> {
  return await new Child(['--expose-gc', '--disable-warning=ExperimentalWarning', program, name, ...numbers.map(String)]).told<T>()
}

/** Compares CPU time with a bound in the same unit. */
function cpuFigure(label: string, { cpu, writes }: Cost, target: number): Labelled {
  return { label, value: cpu, unit: 's', ratio: cpu, target, goal: target, better: 'less', note: `CPU; ${writes} writes` }
}

export const workloadsLine: Line = {
  name: 'workloads',
  what: 'CPU of one process for 1,000 Deployments of 3 Pods without nodes: created to settled, a new image for all, one of 1,000 Pods; memory against the same objects without controllers; idle',
  async run() {
    const figures = await runOperation<{ created: Cost; rollout: Cost; one: Cost; idle: number; memory: number; alone: number }>(
      'deployments',
      ...[1_000, 3, 1_000],
    )
    const { created, rollout, one, idle, memory, alone } = figures
    const [value, floor] = [memory / 1e6, alone / 1e6]
    return [
      cpuFigure('1,000 Deployments of 3', created, 4),
      cpuFigure('rollout of all', rollout, 6),
      cpuFigure('one Deployment of 1,000', one, 0.6),
      { label: 'memory', value, unit: 'MB', floor, ratio: value / floor, target: 1.2, goal: 1.2, better: 'less' },
      { label: 'idle', value: idle * 100, unit: '% of a core', ratio: idle * 100, target: 1, goal: 0, better: 'less' },
    ] satisfies Labelled[]
  },
}

export const nodesLine: Line = {
  name: 'nodes',
  what: 'simulated nodes: start() of three, a Deployment of three until available, CPU of 1,000 Pods on 100 nodes, idle, a day of virtual time with 100 Pods',
  async run() {
    const { plain, withNodes, available } = await runOperation<{ plain: number[]; withNodes: number[]; available: number[] }>(
      'nodeStart',
      3,
    )
    const added = median(withNodes) - median(plain)
    const rollout = await runOperation<Cost>('nodeRollout', 100, 1_000)
    const { idle } = await runOperation<{ idle: number }>('nodeIdle', 100)
    const day = await runOperation<Cost>('virtualDay', 3, 100)
    return [
      {
        label: 'start() with 3 nodes',
        ...{ value: median(withNodes), unit: 'ms', floor: median(plain), ratio: added, target: 15, goal: 15, better: 'less' },
        note: 'ratio column: ms above the floor, start() without nodes',
      },
      {
        label: 'Deployment available',
        ...{ value: median(available), unit: 'ms', ratio: median(available), target: 50, goal: 50, better: 'less' },
      },
      cpuFigure('1,000 Pods on 100 nodes', rollout, 1.5),
      { label: 'idle, 100 nodes', value: idle * 100, unit: '% of a core', ratio: idle * 100, target: 1, goal: 1, better: 'less' },
      cpuFigure('a virtual day, 100 Pods on 3 nodes', day, 5),
    ] satisfies Labelled[]
  },
}

export const scaleNodes: Line = {
  name: 'scale-nodes',
  isByHand: true,
  what: 'CPU of one process for a Deployment of 10,000 Pods on 1,000 simulated nodes, created to settled',
  run: async () => [cpuFigure('10,000 Pods on 1,000 nodes', await runOperation<Cost>('nodeRollout', 1_000, 10_000), 30)],
}

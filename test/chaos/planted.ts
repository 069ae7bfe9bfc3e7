import type { Step } from '../watch/checker.ts'
import type { Operation } from './operation.ts'
import type { ChaosRun } from './run.ts'

/** A possible fault of a run, and the report of the checker. */
interface Plant {
  /** Adds the fault to a copy of the record; undefined: the record has no place for it. */
  readonly harm: (run: ChaosRun) => ChaosRun | undefined
  /** The message of the checker for this fault. */
  readonly told: RegExp
}

const wrongEvents = /^watcher \d+: (event \d+ after|an event)/

/** The planted faults by name. */
export const planted: Readonly<Record<string, Plant>> = {
  'a lost acknowledged write': {
    told: /but the store has it nowhere$/,
    harm(run) {
      const done = new Set(run.operations.flatMap(({ outcome }) => (outcome.kind === 'done' ? [outcome.revision] : [])))
      const lost = run.log.find(({ revision, after }) => after !== undefined && done.has(revision))
      return lost && { ...run, log: run.log.filter((change) => change !== lost) }
    },
  },
  'a lost event': { told: wrongEvents, harm: (run) => withSteps(run, (steps, at) => steps.splice(at, 1)) },
  'a doubled event': { told: wrongEvents, harm: (run) => withSteps(run, (steps, at) => steps.splice(at, 0, steps[at] as Step)) },
  'two swapped events': {
    told: wrongEvents,
    harm: (run) => withSteps(run, (steps, at) => steps.splice(at, 2, steps[at + 1] as Step, steps[at] as Step)),
  },
  'a delayed event': {
    told: wrongEvents,
    harm: (run) => withSteps(run, (steps, at) => steps.splice(at + 5, 0, ...steps.splice(at, 1))),
  },
  'a lost last event': {
    told: /^watcher \d+: ended at/,
    harm: (run) => ({ ...run, watchers: run.watchers.with(3, { failure: undefined, resumed: 0, reached: (run.wanted[3] ?? 0) - 1 }) }),
  },
  'a stale read': { told: /fits nowhere among/, harm: withStaleRead },
}

function withStaleRead(run: ChaosRun): ChaosRun | undefined {
  const isWrite = ({ request, outcome }: Operation) => 'token' in request && outcome.kind === 'done'
  const first = run.operations.find(isWrite)
  const next = run.operations.findLast((one) => isWrite(one) && one.key === first?.key)
  if (first?.outcome.kind !== 'done' || !('token' in first.request) || next === undefined || next === first) return undefined
  const { revision } = first.outcome
  const begunMs = next.endedMs + 1
  const stale: Operation = {
    key: first.key,
    request: { kind: 'read' },
    outcome: { kind: 'found', revision, token: first.request.token },
    begunMs,
    endedMs: begunMs + 1,
  }
  return { ...run, operations: [...run.operations, stale] }
}

/** Changes the events of the first watcher without a selector, between two consecutive events. */
function withSteps(run: ChaosRun, harm: (steps: Step[], at: number) => unknown): ChaosRun | undefined {
  const index = run.observations.findIndex(({ app }) => app === undefined)
  const observation = run.observations[index]
  const middle = Math.floor((observation?.steps.length ?? 0) / 2)
  const at = observation?.steps.findIndex(
    (step, place) => place >= middle && step.kind === 'event' && observation.steps[place + 1]?.kind === 'event',
  )
  if (observation === undefined || at === undefined || at < 0) return undefined
  const steps = [...observation.steps]
  harm(steps, at)
  return { ...run, observations: run.observations.with(index, { ...observation, steps }) }
}

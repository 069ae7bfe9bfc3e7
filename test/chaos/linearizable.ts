import { byKey, type Operation } from './operation.ts'

/** An object's state at one moment. Revision undefined: a write with a lost answer made it. */
interface State {
  readonly token: string | undefined
  readonly revision: number | undefined
  /** The newest revision that the history is known to have reached. */
  readonly reached: number
}

/** The begin of a request, or its answer. */
interface Moment {
  readonly index: number
  readonly isCall: boolean
  readonly atMs: number
  before: Moment | undefined
  after: Moment | undefined
  /** The answer of a call; undefined: the call received no answer. */
  answer: Moment | undefined
}

/**
 * Checks that each object's operations are linearizable: every operation takes effect at a moment between its request and its answer, or, without an
 * answer, at any later moment or never. Returns undefined if so, else the key and the operation that fits no order.
 */
export function findNonLinearizable(operations: readonly Operation[]): string | undefined {
  for (const [key, own] of byKey(operations)) {
    const wrong = wrongOf(own)
    if (wrong !== undefined) return `${key}: ${printOperation(wrong)} fits nowhere among its ${own.length} operations`
  }
  return undefined
}

/** Searches all orders that respect time, and visits a state reached by the same operations only once. */
function wrongOf(all: readonly Operation[]): Operation | undefined {
  const operations = all.filter(({ outcome }) => outcome.kind !== 'refused')
  const head = toMoments(operations)
  const done = new Uint32Array((operations.length >> 5) + 1)
  const seen = new Set<string>()
  const path: { readonly call: Moment; readonly state: State }[] = []
  let state: State = { token: undefined, revision: 0, reached: 0 }
  let stuckAt: { readonly depth: number; readonly index: number } | undefined
  let moment = head.after
  while (hasAnswers(head)) {
    if (moment === undefined || !moment.isCall) {
      if (moment !== undefined && (stuckAt === undefined || path.length > stuckAt.depth)) {
        stuckAt = { depth: path.length, index: moment.index }
      }
      const last = path.pop()
      if (last === undefined) return operations[stuckAt?.index ?? 0]
      state = last.state
      const { index } = last.call
      done[index >> 5] = (done[index >> 5] as number) & ~(1 << (index & 31))
      unlift(last.call)
      moment = last.call.after
      continue
    }
    const { index } = moment
    const next = step(state, operations[index] as Operation)
    if (next !== undefined) {
      done[index >> 5] = (done[index >> 5] as number) | (1 << (index & 31))
      const place = `${done.join()} ${next.token} ${next.revision} ${next.reached}`
      if (!seen.has(place)) {
        seen.add(place)
        path.push({ call: moment, state })
        state = next
        lift(moment)
        moment = head.after
        continue
      }
      done[index >> 5] = (done[index >> 5] as number) & ~(1 << (index & 31))
    }
    moment = moment.after
  }
  return undefined
}

/** The state after an operation took effect; undefined if the operation could not have this outcome. */
function step(state: State, { request, outcome }: Operation): State | undefined {
  const isThere = state.token !== undefined
  if (outcome.kind === 'absent') return isThere ? undefined : state
  if (outcome.kind === 'found') {
    if (state.token !== outcome.token || !fits(state, outcome.revision)) return undefined
    return { ...state, revision: outcome.revision, reached: Math.max(state.reached, outcome.revision) }
  }
  if (outcome.kind === 'conflict') return isThere && (request.kind === 'create' || !isExpected(state, request)) ? state : undefined
  if (request.kind === 'read') return state
  if (isThere === (request.kind === 'create') || !isExpected(state, request)) return undefined
  if (request.kind === 'delete') return { token: undefined, revision: 0, reached: state.reached }
  if (outcome.kind === 'unknown') return { token: request.token, revision: undefined, reached: state.reached }
  if (outcome.kind !== 'done' || outcome.revision <= state.reached) return undefined
  return { token: request.token, revision: outcome.revision, reached: outcome.revision }
}

/** An unknown revision is newer than all known revisions. */
function fits({ revision, reached }: State, told: number): boolean {
  return revision === undefined ? told > reached : told === revision
}

function isExpected(state: State, request: Operation['request']): boolean {
  const expected = request.kind === 'update' || request.kind === 'delete' ? request.expected : 0
  return expected === 0 || (state.revision === undefined ? expected > state.reached : expected === state.revision)
}

function toMoments(operations: readonly Operation[]): Moment {
  const moments: Moment[] = []
  operations.forEach(({ outcome, begunMs, endedMs }, index) => {
    const answer = outcome.kind === 'unknown' ? undefined : momentAt({ index, isCall: false, atMs: endedMs })
    moments.push({ ...momentAt({ index, isCall: true, atMs: begunMs }), answer })
    if (answer !== undefined) moments.push(answer)
  })
  // At equal times a call sorts first, so that both orders are possible.
  moments.sort((a, b) => a.atMs - b.atMs || Number(b.isCall) - Number(a.isCall))
  const head = momentAt({ index: -1, isCall: false, atMs: 0 })
  let last = head
  for (const moment of moments) {
    last.after = moment
    moment.before = last
    last = moment
  }
  return head
}

function momentAt(at: Pick<Moment, 'index' | 'isCall' | 'atMs'>): Moment {
  return { ...at, before: undefined, after: undefined, answer: undefined }
}

/** Removes a call and its answer from the list. */
function lift(call: Moment): void {
  for (const moment of [call, call.answer]) {
    if (moment === undefined) continue
    if (moment.before !== undefined) moment.before.after = moment.after
    if (moment.after !== undefined) moment.after.before = moment.before
  }
}

/** Puts both back, in the reverse order of removal. */
function unlift(call: Moment): void {
  for (const moment of [call.answer, call]) {
    if (moment === undefined) continue
    if (moment.before !== undefined) moment.before.after = moment
    if (moment.after !== undefined) moment.after.before = moment
  }
}

/** True if an answered operation is not placed yet; operations without an answer may stay unplaced. */
function hasAnswers(head: Moment): boolean {
  for (let moment = head.after; moment !== undefined; moment = moment.after) if (!moment.isCall) return true
  return false
}

/** `update t7 expecting 12, done at 13`. */
export function printOperation({ request, outcome, begunMs, endedMs }: Operation): string {
  const token = 'token' in request ? ` ${request.token}` : ''
  const expected = 'expected' in request && request.expected !== 0 ? ` expecting ${request.expected}` : ''
  const told = 'revision' in outcome ? ` at ${outcome.revision}` : ''
  const found = outcome.kind === 'found' ? ` ${outcome.token}` : ''
  return `${request.kind}${token}${expected}, ${outcome.kind}${found}${told} (${begunMs.toFixed(1)} to ${endedMs.toFixed(1)} ms)`
}

import { deviceCondition } from '../../expressions/device-condition.ts'
import { memo } from '../../memo.ts'
import { type Ask, claimText } from './asks.ts'
import type { DeviceRules, PooledDevice, ResourceSlice, Selectors } from './objects.ts'

/** True or false, or the error of a selector. */
export type Match = boolean | { readonly problem: string }

/** Selectors whose matches are remembered for each slice. */
const rememberedMax = 32

/** The matches of some selectors with the devices of a slice, in their order. */
interface SliceMatches {
  readonly answers: (boolean | undefined)[]
  knownCount: number
}

/** Matches by the text of selectors: further claims and Pods ask the same. */
const matchesOf = memo((_: ResourceSlice) => new Map<string, SliceMatches>())

/** Matches of requests and devices, each evaluated once. */
export class Matches {
  readonly #rules: DeviceRules
  readonly #texts = new Map<Ask, string>()
  readonly #matching = new Map<Ask, Map<readonly PooledDevice[], readonly PooledDevice[]>>()

  constructor(rules: DeviceRules) {
    this.#rules = rules
  }

  /**
   * The devices of a list that match or have a problem. A list that many nodes reach is looked through once. Devices after the first problem are
   * not compared, as the search ends with it, unless that device is in use.
   */
  among(ask: Ask, devices: readonly PooledDevice[]): readonly PooledDevice[] {
    const ofAsk = this.#matching.get(ask) ?? new Map<readonly PooledDevice[], readonly PooledDevice[]>()
    this.#matching.set(ask, ofAsk)
    const known = ofAsk.get(devices)
    if (known !== undefined) return known
    let hasProblem = false
    const found = devices.filter((device) => {
      if (hasProblem) return true
      const match = this.find(ask, device)
      hasProblem = typeof match !== 'boolean'
      return match !== false
    })
    ofAsk.set(devices, found)
    return found
  }

  /** Evaluates the selectors of a request and of its class for a device. */
  find(ask: Ask, pooled: PooledDevice): Match {
    const known = this.#matchesIn(pooled.slice, ask)
    const answer = known.answers[pooled.at]
    if (answer !== undefined) return answer
    const match = this.#compare(ask, pooled)
    if (typeof match !== 'boolean') return match
    known.answers[pooled.at] = match
    known.knownCount++
    return match
  }

  /** True if the matches of an ask with all devices of a slice are known. */
  areKnown(ask: Ask, slice: ResourceSlice): boolean {
    return this.#matchesIn(slice, ask).knownCount === (slice.spec.devices ?? []).length
  }

  #matchesIn(slice: ResourceSlice, ask: Ask): SliceMatches {
    const bySelectors = matchesOf(slice)
    const text = this.#textOf(ask)
    const known = bySelectors.get(text)
    if (known !== undefined) return known
    if (bySelectors.size >= rememberedMax) bySelectors.clear()
    const answers = Array.from({ length: (slice.spec.devices ?? []).length }, () => undefined)
    const made: SliceMatches = { answers, knownCount: 0 }
    bySelectors.set(text, made)
    return made
  }

  #textOf(ask: Ask): string {
    const known = this.#texts.get(ask)
    if (known !== undefined) return known
    const { level, hasLists, hasBindingConditions } = this.#rules
    const text = JSON.stringify([level, hasLists, hasBindingConditions, ask.deviceClass.spec?.selectors, ask.selectors])
    this.#texts.set(ask, text)
    return text
  }

  #compare({ deviceClass, selectors, ...ask }: Ask, device: PooledDevice): Match {
    if (!this.#rules.hasBindingConditions && (device.device.bindingConditions ?? []).length > 0) return false
    const byClass = this.#meets(deviceClass.spec?.selectors ?? [], `class ${deviceClass.metadata.name}`, device)
    return byClass === true ? this.#meets(selectors, `claim ${claimText(ask)}`, device) : byClass
  }

  #meets(selectors: Selectors, owner: string, { driver, device, key }: PooledDevice): Match {
    for (const [at, { cel }] of selectors.entries()) {
      const condition = deviceCondition(cel?.expression ?? '', this.#rules)
      if (condition.kind === 'malformed') return { problem: `${owner}: selector #${at}: CEL compile error: ${condition.problem}` }
      const answer = condition.ask(driver, device)
      if (answer === false) return false
      if (answer !== true) return { problem: `${owner}: selector #${at} on device ${key}: CEL runtime error: ${withHint(answer.problem)}` }
    }
    return true
  }
}

const hint = 'consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields'

function withHint(problem: string): string {
  return problem.includes('no such key:') ? `${problem}. ${hint}` : problem
}

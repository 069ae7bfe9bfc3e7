import { deviceCondition } from '../../expressions/device-condition.ts'
import { type Ask, claimText } from './asks.ts'
import type { DeviceRules, PooledDevice, Selectors } from './objects.ts'

/** True or false, or the error of a selector. */
export type Match = boolean | { readonly problem: string }

/** Matches of requests and devices, each evaluated once for all nodes. */
export class Matches {
  readonly #rules: DeviceRules
  readonly #known = new Map<Ask, Map<string, Match>>()

  constructor(rules: DeviceRules) {
    this.#rules = rules
  }

  /** Evaluates the selectors of a request and of its class for a device. */
  find(ask: Ask, device: PooledDevice): Match {
    const ofAsk = this.#known.get(ask) ?? new Map<string, Match>()
    this.#known.set(ask, ofAsk)
    const known = ofAsk.get(device.key)
    if (known !== undefined) return known
    const match = this.#compare(ask, device)
    ofAsk.set(device.key, match)
    return match
  }

  #compare({ deviceClass, selectors, ...ask }: Ask, device: PooledDevice): Match {
    // Binding conditions are not supported.
    if ((device.device.bindingConditions ?? []).length > 0) return false
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

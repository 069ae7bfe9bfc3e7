import type { BuiltIn } from '../../schema/built-in.ts'
import type { PooledDevice } from './objects.ts'

export type Constraint = BuiltIn<'resource/v1.DeviceConstraint'>

/** The names of a request: a constraint may name the request, or one of its alternatives. */
export interface NamedRequest {
  readonly base: string
  /** `request`, or `request/alternative`. */
  readonly name: string
}

/** Constraints over all devices of a claim. Devices are added, and removed in reverse order. */
export class Constraints {
  readonly #constraints: readonly Constraint[]
  /** The values that each constraint has seen. */
  readonly #values: string[][]

  constructor(constraints: readonly Constraint[]) {
    this.#constraints = constraints
    this.#values = constraints.map(() => [])
  }

  /** Adds a device. False, without a change, if it violates a constraint. */
  add(request: NamedRequest, device: PooledDevice): boolean {
    const added: (readonly [string[], string])[] = []
    for (const [at, constraint] of this.#constraints.entries()) {
      const values = this.#values[at]
      if (values === undefined || !isAbout(constraint, request)) continue
      const { matchAttribute, distinctAttribute } = constraint
      const value = attributeOf(device, matchAttribute ?? distinctAttribute ?? '')
      if (value === undefined) return false
      if (matchAttribute ? values.some((one) => one !== value) : values.includes(value)) return false
      added.push([values, value])
    }
    for (const [values, value] of added) values.push(value)
    return true
  }

  remove(request: NamedRequest): void {
    for (const [at, constraint] of this.#constraints.entries()) if (isAbout(constraint, request)) this.#values[at]?.pop()
  }
}

function isAbout({ requests = [] }: Constraint, { base, name }: NamedRequest): boolean {
  return requests.length === 0 || requests.includes(base) || requests.includes(name)
}

/** The value of an attribute with its type, looked up with and without the driver's domain. */
function attributeOf({ driver, device: { attributes = {} } }: PooledDevice, qualified: string): string | undefined {
  const plain = qualified.startsWith(`${driver}/`) ? qualified.slice(driver.length + 1) : undefined
  const key = Object.hasOwn(attributes, qualified) ? qualified : plain
  const value = key !== undefined && Object.hasOwn(attributes, key) ? attributes[key] : undefined
  if (value === undefined) return undefined
  const [type] = Object.entries(value).filter(([, one]) => one != null)
  return type === undefined || Array.isArray(type[1]) ? undefined : `${type[0]}:${type[1]}`
}

import type { CallContext, Methods, ServiceRole } from '@orch/core/contracts'
import { failed } from '@orch/core/meta'
import type { Clock } from '../clock.ts'
import { type Codec, codecOf } from '../codec.ts'
import type { Departure } from './departure.ts'
import { createObserve, type Observe, type RpcTelemetry } from './observe.ts'
import type { Offer } from './offer.ts'
import { wireName } from './path.ts'
import type { Work } from './work.ts'

/** The options shared by the methods of a server. */
export interface ServeOptions extends RpcTelemetry {
  readonly clock: Clock
  readonly work: Work
  readonly departure: Departure
  /** Raised when endless streams must end. */
  readonly stopping: AbortSignal
  /** True if callers present certificates and so have roles. */
  readonly hasRoles: boolean
}

/** A method that is ready to be called. */
export interface ServedMethod {
  readonly form: 'unary' | 'stream'
  readonly request: Codec
  readonly response: Codec
  readonly observe: Observe
  readonly isEndless: boolean
  /** True if calls travel in batches. */
  readonly isHot: boolean
  /** Throws 403 if a role may not make this request. */
  admit(role: ServiceRole | undefined, request: unknown): void
  call(request: unknown, context: CallContext): unknown
}

/** The methods of an offer by name. */
export function servedMethods(
  { contract: { name, methods }, service }: Offer,
  options: RpcTelemetry & Pick<ServeOptions, 'hasRoles'>,
): ReadonlyMap<string, ServedMethod> {
  const served = new Map<string, ServedMethod>()
  for (const [method, description] of Object.entries(methods)) {
    served.set(method, {
      form: description.form,
      request: codecOf(description.request),
      response: codecOf(description.response),
      observe: createObserve(options, 'server', name, method),
      isEndless: description.form === 'stream' && description.options.endless === true,
      isHot: description.form === 'unary' && description.options.hot === true,
      admit: (role, message) => admit({ name, method, role, message, rule: description.options }, options),
      call: bind(service, method),
    })
  }
  return served
}

// The contract ties method and service together; TypeScript loses that in the loop.
function bind(service: unknown, method: string): (request: unknown, context: CallContext) => unknown {
  const call = (service as Readonly<Record<string, (request: unknown, context: CallContext) => unknown>>)[method]
  if (call === undefined) throw new TypeError(`the service has no method ${method}`)
  return call.bind(service)
}

interface Admission {
  readonly name: string
  readonly method: string
  readonly role: ServiceRole | undefined
  readonly message: unknown
  readonly rule: Methods[string]['options']
}

function admit({ name, method, role, message, rule }: Admission, { hasRoles }: Pick<ServeOptions, 'hasRoles'>): void {
  if (!hasRoles || rule.callers === undefined) return
  if (role !== undefined && rule.callers.includes(role) && rule.permits?.(role, message as never) !== false) return
  const who = role === undefined ? 'a certificate without a role' : `the role ${role}`
  throw failed(403, 'Forbidden', `${who} may not call ${wireName(method)} of ${name} for this`)
}

import {
  type AdmissionAnswer,
  type AdmissionService,
  type Attributes,
  badRequest,
  type CallContext,
  type Catalogue,
  type Interest,
  type StorageService,
  type Stream,
  serviceUnavailable,
} from '@orch/core'
import { type Clock, type Log, PushStream } from '@orch/platform'
import { isInterested } from './interest.ts'
import { limits } from './limits.ts'
import type { Plugin } from './plugin.ts'
import { createNamespaceLifecycle } from './plugins/namespace-lifecycle.ts'

export interface AdmissionOptions {
  readonly storage: StorageService
  readonly catalogue: Catalogue
  readonly clock: Clock
  readonly log: Log
  /** A number in [0, 1). */
  readonly random: () => number
}

/** The admission service, and its end. */
export interface Admission extends AdmissionService {
  close(): void
}

/** Plugins in the order in which they are asked. */
export function createAdmission(options: AdmissionOptions): Admission {
  return admissionOf([createNamespaceLifecycle(options)], options)
}

/** The service over plugins that are made already, asked in the given order. */
export function admissionOf(plugins: readonly Plugin[], { clock, storage }: Pick<AdmissionOptions, 'clock' | 'storage'>): Admission {
  const interests = plugins.flatMap((plugin) => plugin.interests)
  const closed = new AbortController()
  return {
    async admit({ phase, attributes }) {
      if (closed.signal.aborted) throw serviceUnavailable('admission is ending')
      if (phase !== 'mutate' && phase !== 'validate') throw badRequest(`phase: expected mutate or validate, got "${phase}"`)
      return await ask(plugins, phase, attributes)
    },
    interests: (_request, context) => tellInterests({ interests, clock, storage, closed: closed.signal, context }),
    close() {
      closed.abort()
      for (const plugin of plugins) plugin.close()
    },
  }
}

/** Each plugin sees the object as the one before left it; the first refusal ends the round. */
async function ask(plugins: readonly Plugin[], phase: 'mutate' | 'validate', first: Attributes): Promise<AdmissionAnswer> {
  let attributes = first
  const warnings: string[] = []
  const auditAnnotations: Record<string, string> = {}
  const conditions: Extract<AdmissionAnswer, { kind: 'allowed' }>['conditions'][number][] = []
  for (const plugin of plugins) {
    if (!plugin.interests.some((interest) => isInterested(interest, phase, attributes))) continue
    const verdict = await plugin[phase]?.(attributes)
    if (verdict === undefined) continue
    if (verdict.kind === 'denied') return { kind: 'denied', status: verdict.error.status, warnings, auditAnnotations }
    warnings.push(...(verdict.warnings ?? []))
    Object.assign(auditAnnotations, verdict.auditAnnotations)
    conditions.push(...(verdict.conditions ?? []))
    if (verdict.object !== undefined) attributes = { ...attributes, object: verdict.object }
  }
  const object = attributes.object === first.object ? undefined : attributes.object
  return { kind: 'allowed', object, warnings, auditAnnotations, conditions }
}

type Interests = { readonly kind: 'interests'; readonly interests: readonly Interest[]; readonly revision: number }

interface Telling {
  readonly interests: readonly Interest[]
  readonly clock: Clock
  readonly storage: StorageService
  readonly closed: AbortSignal
  readonly context: CallContext | undefined
}

/** The set at once, then again every second: a gateway that hears nothing any more stops to believe it. */
function tellInterests({ interests, clock, storage, closed, context }: Telling): Stream<Interests> {
  const signals = [closed, context?.signal].filter((signal) => signal !== undefined)
  const end = () => stream.end()
  const stream = new PushStream<Interests>({
    onClose() {
      timer.cancel()
      for (const signal of signals) signal.removeEventListener('abort', end)
    },
  })
  const tell = async (): Promise<void> => {
    try {
      const { revision } = await storage.status({})
      stream.push({ kind: 'interests', interests, revision })
    } catch (error) {
      stream.fail(error)
    }
  }
  const timer = clock.every(limits.interestsIntervalMs, () => void tell())
  for (const signal of signals) signal.addEventListener('abort', end)
  if (signals.some((signal) => signal.aborted)) end()
  else void tell()
  return stream
}

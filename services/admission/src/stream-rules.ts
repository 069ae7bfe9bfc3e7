import type { AdmissionRulesPart, CallContext, StorageService, Stream } from '@orch/core/contracts'
import { type Clock, PushStream } from '@orch/platform'
import { limits } from './limits.ts'

export interface RuleStreamOptions {
  /** The present set. */
  readonly made: () => Pick<AdmissionRulesPart, 'admissionRules' | 'sources'>
  /** Whom to send that the set is another; the returned function takes it back. */
  readonly onChange: (listener: () => void) => () => void
  readonly clock: Clock
  readonly storage: StorageService
  readonly closed: AbortSignal
  readonly context: CallContext | undefined
}

/** The set at once, when it changes, and every second: a gateway that hears nothing any more stops to believe it. */
export function streamAdmissionRules({ made, onChange, clock, storage, closed, context }: RuleStreamOptions): Stream<AdmissionRulesPart> {
  const signals = [closed, context?.signal].filter((signal) => signal !== undefined)
  const end = () => stream.end()
  const stream = new PushStream<AdmissionRulesPart>({
    onClose() {
      timer.cancel()
      forget()
      for (const signal of signals) signal.removeEventListener('abort', end)
    },
  })
  const send = oneAtATime(async () => {
    try {
      const { revision } = await storage.status({})
      stream.push({ kind: 'admissionRules', ...made(), revision })
    } catch (error) {
      stream.fail(error)
    }
  })
  const timer = clock.every(limits.admissionRulesIntervalMs, send)
  const forget = onChange(send)
  for (const signal of signals) signal.addEventListener('abort', end)
  if (signals.some((signal) => signal.aborted)) end()
  else send()
  return stream
}

/** Calls during the work lead to one more round of it. */
function oneAtATime(work: () => Promise<void>): () => void {
  let isBusy = false
  let isWanted = false
  return () => {
    isWanted = true
    if (isBusy) return
    isBusy = true
    void (async () => {
      while (isWanted) {
        isWanted = false
        await work()
      }
      isBusy = false
    })()
  }
}

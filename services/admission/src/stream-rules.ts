import type { AdmissionRulesPart, CallContext, Stream } from '@orch/core/contracts'
import { onAbort, PushStream } from '@orch/platform'
import { limits } from './limits.ts'
import type { PluginNeeds } from './plugin.ts'

export interface RuleStreamOptions extends Pick<PluginNeeds, 'clock' | 'storage'> {
  readonly made: () => Pick<AdmissionRulesPart, 'admissionRules' | 'sources'>
  /** Registers a listener for changed rules; the returned function removes it. */
  readonly onChange: (listener: () => void) => () => void
  /** True if the rules are sent again every second: a gateway in another process stops trusting them without messages. */
  readonly isRenewed: boolean
  readonly closed: AbortSignal
  readonly context: CallContext | undefined
}

/** Sends the rules at once and at each change. */
export function streamAdmissionRules({
  made,
  onChange,
  clock,
  storage,
  isRenewed,
  closed,
  context,
}: RuleStreamOptions): Stream<AdmissionRulesPart> {
  const signals = [closed, context?.signal].filter((signal) => signal !== undefined)
  const end = () => stream.end()
  const stream = new PushStream<AdmissionRulesPart>({
    onClose() {
      timer?.cancel()
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
  const timer = isRenewed ? clock.every(limits.admissionRulesIntervalMs, send) : undefined
  const forget = onChange(send)
  send()
  for (const signal of signals) onAbort(signal, end)
  return stream
}

/** Calls during the work cause one repetition of it. */
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

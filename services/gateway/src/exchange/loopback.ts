import { onAbort } from '@orch/platform'
import type { Exchange } from './exchange.ts'
import { InProcessExchange, type InProcessRequest } from './in-process.ts'

/** An in-process transport to a gateway. */
export type Loopback = ReturnType<typeof createLoopback>

/** A transport for a part of this process. `handle` serves an exchange. */
export function createLoopback(handle: (exchange: Exchange) => void, user: { readonly name: string; readonly groups: readonly string[] }) {
  const peer = { kind: 'internal', name: user.name, groups: user.groups } as const
  const open = new Set<InProcessExchange>()
  const endings = new WeakMap<AbortSignal, Set<InProcessExchange>>()
  return {
    takesValues: true,
    send(request: InProcessRequest) {
      const exchange = new InProcessExchange(request, peer)
      const ending = request.signal === undefined ? undefined : endedWith(request.signal, endings)
      open.add(exchange)
      ending?.add(exchange)
      exchange.onClose(() => {
        open.delete(exchange)
        ending?.delete(exchange)
      })
      handle(exchange)
      return exchange.response
    },
    /** Aborts open answers. */
    close() {
      for (const exchange of open) exchange.destroy()
    },
  }
}

/** The open exchanges of a signal. The requests of a controller share one signal, with one listener for all. */
function endedWith(signal: AbortSignal, endings: WeakMap<AbortSignal, Set<InProcessExchange>>): Set<InProcessExchange> {
  const known = endings.get(signal)
  if (known !== undefined) return known
  const exchanges = new Set<InProcessExchange>()
  endings.set(signal, exchanges)
  const end = () => {
    for (const exchange of exchanges) exchange.abort()
  }
  onAbort(signal, end)
  return exchanges
}

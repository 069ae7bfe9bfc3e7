import { Client, credentials } from '@grpc/grpc-js'
import { wire } from '@orch/core/contracts'
import { brokenAnswer, type CallRefusal, type OutgoingCalls, passCall, systemClock, timeoutSignal } from '@orch/platform'
import { type Codec, codecOf } from '@orch/platform/rpc'
import type { KmsPlugin } from './kms-provider.ts'

/** The address of a plugin, and the time limit for each answer. */
export interface KmsPluginAddress {
  readonly name: string
  /** `unix:///run/kms.sock`. */
  readonly endpoint: string
  readonly timeoutMs: number
  /** The faults that a test injects; undefined without faults. */
  readonly calls?: OutgoingCalls | undefined
}

// The messages of `KeyManagementService` in the package `v2` of k8s.io/kms.
const annotations = wire.many(wire.nested(3, wire.message({ name: wire.string(1), value: wire.bytes(2) })))
const statusResponse = wire.message({ version: wire.string(1), healthz: wire.string(2), keyId: wire.string(3) })
const encryptRequest = wire.message({ plaintext: wire.bytes(1), uid: wire.string(2) })
const encryptResponse = wire.message({ ciphertext: wire.bytes(1), keyId: wire.string(2), annotations })
const decryptRequest = wire.message({
  ciphertext: wire.bytes(1),
  uid: wire.string(2),
  keyId: wire.string(3),
  annotations: wire.many(wire.nested(4, wire.message({ name: wire.string(1), value: wire.bytes(2) }))),
})
const decryptResponse = wire.message({ plaintext: wire.bytes(1) })

const codecs = {
  statusRequest: codecOf(wire.message({})),
  statusResponse: codecOf(statusResponse),
  encryptRequest: codecOf(encryptRequest),
  encryptResponse: codecOf(encryptResponse),
  decryptRequest: codecOf(decryptRequest),
  decryptResponse: codecOf(decryptResponse),
}

/** The plugin that listens at an address. The client connects at the first call and reconnects after a failure. */
export function dialKmsPlugin({ name, endpoint, timeoutMs, calls }: KmsPluginAddress): KmsPlugin {
  // A path with a leading @ is a name in the abstract socket namespace of Linux.
  const path = endpoint.replace(/^unix:(\/\/)?/, '')
  const target = path.startsWith('/@') || path.startsWith('@') ? `unix-abstract:${path.slice(path.indexOf('@') + 1)}` : `unix:${path}`
  const client = new Client(target, credentials.createInsecure(), {
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
  })
  function call<Q, S>(method: string, request: Codec<Q>, response: Codec<S>, value: Q): Promise<S> {
    const send = () => ask(method, request, response, value)
    return passCall(calls, { to: `kms/${name}/${method.toLowerCase()}`, signal: timeoutSignal(systemClock, timeoutMs), send, ...inPlace })
  }
  function ask<Q, S>(method: string, request: Codec<Q>, response: Codec<S>, value: Q): Promise<S> {
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        `/v2.KeyManagementService/${method}`,
        (one: Q) => request.encode(one),
        (bytes) => response.decode(bytes),
        value,
        { deadline: systemClock.now() + timeoutMs },
        (error, answer) => {
          if (error !== null) reject(error)
          else if (answer === undefined) reject(new Error(`the plugin has answered ${method} with nothing`))
          else resolve(answer)
        },
      )
    })
  }
  return {
    status: () => call('Status', codecs.statusRequest, codecs.statusResponse, {}),
    async encrypt(request) {
      const answer = await call('Encrypt', codecs.encryptRequest, codecs.encryptResponse, request)
      return { ...answer, annotations: new Map(answer.annotations.map(({ name, value }) => [name, value])) }
    },
    decrypt: ({ uid, ciphertext, keyId, annotations: given }) =>
      call('Decrypt', codecs.decryptRequest, codecs.decryptResponse, {
        uid,
        ciphertext,
        keyId,
        annotations: [...given].map(([name, value]) => ({ name, value })),
      }),
    close: () => client.close(),
  }
}

/** The answers that the faults give. */
const inPlace = {
  refuse({ code, message }: CallRefusal): never {
    throw new Error(`the plugin has answered ${code}: ${message}`)
  },
  truncate(): never {
    throw brokenAnswer()
  },
}

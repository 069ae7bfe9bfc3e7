import { InterceptingCall, type InterceptorOptions, ListenerBuilder, type NextCall } from '@grpc/grpc-js'

/** What etcd says to a token that was given out before its users or roles were changed. */
const outdated = 'etcdserver: revision of auth store is old'
const invalid = 'etcdserver: invalid auth token'

const renaming = new ListenerBuilder()
  .withOnReceiveStatus((status, tell) => tell(status.details === outdated ? { ...status, details: invalid } : status))
  .build()

/** The library asks for a new token where one is told to be invalid. One that is outdated wants the same. */
export function renewingTokens(options: InterceptorOptions, next: NextCall): InterceptingCall {
  return new InterceptingCall(next(options), { start: (metadata, _listener, forward) => forward(metadata, renaming) })
}

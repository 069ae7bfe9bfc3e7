/** The client: requests, client configuration, watch and informer. */
export * from './client.ts'
export * from './configuration.ts'
export * from './https-transport.ts'
export * from './informer.ts'
export * from './request.ts'
export * from './resource-client.ts'
export * from './transport.ts'
export * from './watch-stream.ts'

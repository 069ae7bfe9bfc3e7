export * from './envelope.ts'
export * from './stored-object.ts'
export * from './uid.ts'
export * from './write-id.ts'

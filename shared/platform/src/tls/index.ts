/** Certificates of the server, its administrator and the services. */
export * from './certificate-source.ts'
export * from './certificates.ts'
export * from './files.ts'
export * from './kept-service-certificates.ts'
export * from './key-pair.ts'
export * from './service-certificates.ts'
export * from './serving-names.ts'
export * from './system-authorities.ts'

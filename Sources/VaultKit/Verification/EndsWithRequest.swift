/// A prompt or a source that ends each request by itself, as ``PromptRequest/ending`` says. It needs no `cancel()`, which
/// could end the prompt of another call.
package protocol EndsWithRequest {}

import HTTPTransport

HTTPTransport.main()
